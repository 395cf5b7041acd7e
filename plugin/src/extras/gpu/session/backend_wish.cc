// SPDX-License-Identifier: MIT
#include "extras/backend_wishes.h"
#include "extras/gpu/ioctl/drivers.h"

namespace syscost::session {

constinit const BackendWish kDriverWish{
    .is_wanted = [](const Options& options) { return options.details.ioctls; },
    .tell = [](const Options&, BackendRequest& request) { gpu::add_knowledge(request.details); },
    .name_details = gpu::add_names,
};

}  // namespace syscost::session
