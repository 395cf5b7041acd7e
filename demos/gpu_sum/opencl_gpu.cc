// SPDX-License-Identifier: MIT
//
// The sum suite's GPU on OpenCL 1.2. With PoCL the device is the CPU: no GPU, but the calls of a GPU API, everywhere.
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "gpu.h"

namespace gpu_sum {
namespace {

constexpr std::size_t kGroupItems = 256;
/// Groups are reused for what lies beyond: each item goes on in steps of the grid.
constexpr std::size_t kMaxGroups = 4096;

constexpr const char* kSource = R"(
__kernel void add_naive(__global const uint* numbers, ulong count, __global uint* sum) {
  for (ulong i = get_global_id(0); i < count; i += get_global_size(0)) atomic_add(sum, numbers[i]);
}

__kernel void add_tree(__global const uint* numbers, ulong count, __global uint* sum, __local uint* partial) {
  uint own = 0;
  for (ulong i = get_global_id(0); i < count; i += get_global_size(0)) own += numbers[i];
  const uint item = get_local_id(0);
  partial[item] = own;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint left = get_local_size(0) / 2; left > 0; left /= 2) {
    if (item < left) partial[item] += partial[item + left];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (item == 0) atomic_add(sum, partial[0]);
}
)";

void check(cl_int error, const char* call) {
  if (error != CL_SUCCESS) throw GpuError(std::string(call) + ": OpenCL error " + std::to_string(error));
}

template <class Object, class Query>
std::string text_of(Query query, Object object, cl_uint what) {
  std::size_t bytes = 0;
  check(query(object, what, 0, nullptr, &bytes), "clGet...Info");
  std::string text(bytes, '\0');
  check(query(object, what, bytes, text.data(), nullptr), "clGet...Info");
  text.resize(std::strlen(text.c_str()));  // up to the terminating zero
  return text;
}

class OpenclGpu final : public Gpu {
 public:
  explicit OpenclGpu(cl_device_id device) : device_(device) {
    cl_int error = CL_SUCCESS;
    context_ = clCreateContext(nullptr, 1, &device_, nullptr, nullptr, &error);
    check(error, "clCreateContext");
    queue_ = clCreateCommandQueue(context_, device_, 0, &error);
    check(error, "clCreateCommandQueue");
    const char* source = kSource;
    program_ = clCreateProgramWithSource(context_, 1, &source, nullptr, &error);
    check(error, "clCreateProgramWithSource");
    check(clBuildProgram(program_, 1, &device_, nullptr, nullptr, nullptr), "clBuildProgram");
    naive_ = clCreateKernel(program_, "add_naive", &error);
    check(error, "clCreateKernel");
    tree_ = clCreateKernel(program_, "add_tree", &error);
    check(error, "clCreateKernel");
  }
  ~OpenclGpu() override {
    // At the end of the program no code is left that could handle an error.
    if (last_ != nullptr) static_cast<void>(clReleaseEvent(last_));
    static_cast<void>(clReleaseKernel(tree_));
    static_cast<void>(clReleaseKernel(naive_));
    static_cast<void>(clReleaseProgram(program_));
    static_cast<void>(clReleaseCommandQueue(queue_));
    static_cast<void>(clReleaseContext(context_));
  }

  std::string name() const override { return "OpenCL: " + text_of(clGetDeviceInfo, device_, CL_DEVICE_NAME); }

  DeviceMemory allocate(std::size_t bytes) override {
    cl_int error = CL_SUCCESS;
    cl_mem memory = clCreateBuffer(context_, CL_MEM_READ_WRITE, bytes, nullptr, &error);
    check(error, "clCreateBuffer");
    return {memory};
  }
  void free(DeviceMemory memory) override { check(clReleaseMemObject(as_mem(memory.handle)), "clReleaseMemObject"); }

  HostBuffer allocate_host(std::size_t bytes, HostMemory kind) override {
    HostBuffer buffer{nullptr, nullptr, kind};
    if (kind == HostMemory::pageable) {
      buffer.data = std::malloc(bytes);
      if (buffer.data == nullptr) throw GpuError("malloc: no memory");
      return buffer;
    }
    // OpenCL's way to memory that the driver has pinned: a buffer on the host's side, mapped for as long as it is used.
    cl_int error = CL_SUCCESS;
    cl_mem memory = clCreateBuffer(context_, CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR, bytes, nullptr, &error);
    check(error, "clCreateBuffer on the host");
    buffer.handle = memory;
    buffer.data =
        clEnqueueMapBuffer(queue_, memory, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 0, bytes, 0, nullptr, nullptr, &error);
    check(error, "clEnqueueMapBuffer");
    return buffer;
  }
  void free_host(HostBuffer buffer) override {
    if (buffer.kind == HostMemory::pageable) {
      std::free(buffer.data);
      return;
    }
    check(clEnqueueUnmapMemObject(queue_, as_mem(buffer.handle), buffer.data, 0, nullptr, nullptr),
          "clEnqueueUnmapMemObject");
    check(clFinish(queue_), "clFinish");
    check(clReleaseMemObject(as_mem(buffer.handle)), "clReleaseMemObject");
  }

  void copy_in(DeviceMemory to, std::size_t offset_bytes, const void* from, std::size_t bytes) override {
    check(clEnqueueWriteBuffer(queue_, as_mem(to.handle), CL_TRUE, offset_bytes, bytes, from, 0, nullptr, nullptr),
          "clEnqueueWriteBuffer");
  }
  void copy_out(void* to, DeviceMemory from, std::size_t bytes) override {
    check(clEnqueueReadBuffer(queue_, as_mem(from.handle), CL_TRUE, 0, bytes, to, 0, nullptr, nullptr),
          "clEnqueueReadBuffer");
  }

  void launch(Reduction reduction, DeviceMemory numbers, std::size_t count, DeviceMemory sum) override {
    if (count == 0) return;
    std::size_t groups = (count + kGroupItems - 1) / kGroupItems;
    if (groups > kMaxGroups) groups = kMaxGroups;
    const std::size_t items = groups * kGroupItems;
    cl_kernel kernel = reduction == Reduction::naive ? naive_ : tree_;
    const cl_ulong elements = count;
    check(clSetKernelArg(kernel, 0, sizeof(cl_mem), &numbers.handle), "clSetKernelArg");
    check(clSetKernelArg(kernel, 1, sizeof elements, &elements), "clSetKernelArg");
    check(clSetKernelArg(kernel, 2, sizeof(cl_mem), &sum.handle), "clSetKernelArg");
    if (reduction == Reduction::tree) {
      check(clSetKernelArg(kernel, 3, kGroupItems * sizeof(cl_uint), nullptr), "clSetKernelArg");
    }
    if (last_ != nullptr) check(clReleaseEvent(last_), "clReleaseEvent");
    last_ = nullptr;
    check(clEnqueueNDRangeKernel(queue_, kernel, 1, nullptr, &items, &kGroupItems, 0, nullptr, &last_),
          "clEnqueueNDRangeKernel");
    check(clFlush(queue_), "clFlush");
  }
  void synchronise(Wait wait) override {
    if (wait == Wait::block || last_ == nullptr) {
      check(clFinish(queue_), "clFinish");
      return;
    }
    // The queue is in order: its last kernel's end is everything's.
    cl_int status = CL_QUEUED;
    while (status != CL_COMPLETE) {
      check(clGetEventInfo(last_, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, nullptr),
            "clGetEventInfo");
      if (status < 0) check(status, "kernel");
    }
  }

 private:
  static cl_mem as_mem(void* handle) { return static_cast<cl_mem>(handle); }

  cl_device_id device_ = nullptr;
  cl_context context_ = nullptr;
  cl_command_queue queue_ = nullptr;
  cl_program program_ = nullptr;
  cl_kernel naive_ = nullptr;
  cl_kernel tree_ = nullptr;
  cl_event last_ = nullptr;
};

}  // namespace

OpenedGpu open_gpu() {
  cl_uint count = 0;
  constexpr cl_int kNoPlatform = -1001;  // CL_PLATFORM_NOT_FOUND_KHR, of the loader
  const cl_int error = clGetPlatformIDs(0, nullptr, &count);
  if (error == kNoPlatform || (error == CL_SUCCESS && count == 0)) {
    return {nullptr, "no OpenCL platform is installed (Debian: apt-get install pocl-opencl-icd)"};
  }
  check(error, "clGetPlatformIDs");
  std::vector<cl_platform_id> platforms(count);
  check(clGetPlatformIDs(count, platforms.data(), nullptr), "clGetPlatformIDs");
  // A GPU of any platform, else what there is.
  for (const cl_device_type type : {cl_device_type{CL_DEVICE_TYPE_GPU}, cl_device_type{CL_DEVICE_TYPE_ALL}}) {
    for (cl_platform_id platform : platforms) {
      cl_device_id device = nullptr;
      const cl_int found = clGetDeviceIDs(platform, type, 1, &device, nullptr);
      if (found == CL_SUCCESS) return {std::make_unique<OpenclGpu>(device), {}};
      if (found != CL_DEVICE_NOT_FOUND) check(found, "clGetDeviceIDs");
    }
  }
  return {nullptr, "no OpenCL platform here has a device"};
}

}  // namespace gpu_sum
