// In the head, so that the first painting knows that the page has its script.
document.documentElement.className = "js";
