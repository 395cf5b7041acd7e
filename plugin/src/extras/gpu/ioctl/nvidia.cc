// SPDX-License-Identifier: MIT
//
// NVIDIA's device files: control and device, which speak to the resource manager (RM), and unified memory (UVM).
//
// RM's ioctls are recognised by the request's number alone: the driver ignores its type, and its size changes between
// versions. Most work goes through two of them, RM_CONTROL and RM_ALLOC; their argument holds the command. An ioctl
// that succeeded for the kernel may have failed for RM; RM's status is in the argument. UVM's requests are bare
// numbers. UVM's status has a different place in each request, which moves between versions, so it is not read.
//
// Numbers and names: the driver's published source, open-gpu-kernel-modules 595.45 (nv-ioctl-numbers.h, nv_escape.h,
// uvm_ioctl.h, ctrl/, class/, nvstatuscodes.h).
#include "extras/gpu/ioctl/drivers.h"

namespace syscost::gpu {
namespace {

constexpr std::uint32_t kMajor = 195;
constexpr std::uint32_t kControlMinor = 255;
constexpr std::uint32_t kModesetMinor = 254;

constexpr std::uint32_t kRmControl = 0x2a;
constexpr std::uint32_t kRmAlloc = 0x2b;
constexpr std::uint32_t kXferCommand = 0xd3;

constexpr Named kRm[] = {{0x27, "RM_ALLOC_MEMORY"},
                         {0x28, "RM_ALLOC_OBJECT"},
                         {0x29, "RM_FREE"},
                         {kRmControl, "RM_CONTROL"},
                         {kRmAlloc, "RM_ALLOC"},
                         {0x34, "RM_DUP_OBJECT"},
                         {0x35, "RM_SHARE"},
                         {0x41, "RM_IDLE_CHANNELS"},
                         {0x4a, "RM_VID_HEAP_CONTROL"},
                         {0x4d, "RM_ACCESS_REGISTRY"},
                         {0x4e, "RM_MAP_MEMORY"},
                         {0x4f, "RM_UNMAP_MEMORY"},
                         {0x52, "RM_GET_EVENT_DATA"},
                         {0x54, "RM_ALLOC_CONTEXT_DMA2"},
                         {0x57, "RM_MAP_MEMORY_DMA"},
                         {0x58, "RM_UNMAP_MEMORY_DMA"},
                         {0x5c, "RM_EXPORT_OBJECT_TO_FD"},
                         {0x5d, "RM_IMPORT_OBJECT_FROM_FD"},
                         {0x5e, "RM_UPDATE_DEVICE_MAPPING_INFO"},
                         {0xc8, "CARD_INFO"},
                         {0xc9, "REGISTER_FD"},
                         {0xce, "ALLOC_OS_EVENT"},
                         {0xcf, "FREE_OS_EVENT"},
                         {0xd1, "STATUS_CODE"},
                         {0xd2, "CHECK_VERSION_STR"},
                         {kXferCommand, "IOCTL_XFER_CMD"},
                         {0xd4, "ATTACH_GPUS_TO_FD"},
                         {0xd6, "SYS_PARAMS"},
                         {0xd7, "NUMA_INFO"},
                         {0xd9, "EXPORT_TO_DMABUF_FD"},
                         {0xda, "WAIT_OPEN_COMPLETE"}};

// RM_CONTROL's command.
constexpr Named kControls[] = {{0x101, "SYSTEM_GET_BUILD_VERSION"},
                               {0x13a, "SYSTEM_GET_P2P_CAPS_MATRIX"},
                               {0x1f0, "SYSTEM_GET_FEATURES"},
                               {0x201, "GPU_GET_ATTACHED_IDS"},
                               {0x202, "GPU_GET_ID_INFO"},
                               {0x205, "GPU_GET_ID_INFO_V2"},
                               {0x214, "GPU_GET_PROBED_IDS"},
                               {0x215, "GPU_ATTACH_IDS"},
                               {0x216, "GPU_DETACH_IDS"},
                               {0x27b, "GPU_GET_MEMOP_ENABLE"},
                               {0x288, "GPU_GET_ACTIVE_DEVICE_IDS"},
                               {0xa04, "SYNC_GPU_BOOST_GROUP_INFO"},
                               {0xd01, "CLIENT_GET_ADDR_SPACE_TYPE"},
                               {0xd04, "CLIENT_SET_INHERITED_SHARE_POLICY"},
                               {0x800201, "GPU_GET_CLASSLIST"},
                               {0x800280, "GPU_GET_NUM_SUBDEVICES"},
                               {0x800289, "GPU_GET_VIRTUALIZATION_MODE"},
                               {0x800292, "GPU_GET_CLASSLIST_V2"},
                               {0x801307, "FB_GET_CAPS_V2"},
                               {0x801402, "HOST_GET_CAPS_V2"},
                               {0x80170d, "FIFO_GET_CHANNELLIST"},
                               {0x801909, "PERF_CUDA_LIMIT_SET_CONTROL"},
                               {0x20800102, "GPU_GET_INFO_V2"},
                               {0x20800110, "GPU_GET_NAME_STRING"},
                               {0x20800111, "GPU_GET_SHORT_NAME_STRING"},
                               {0x20800119, "GPU_GET_SIMULATION_INFO"},
                               {0x2080012f, "GPU_QUERY_ECC_STATUS"},
                               {0x20800131, "GPU_QUERY_COMPUTE_MODE_RULES"},
                               {0x2080014a, "GPU_GET_GID_INFO"},
                               {0x20800170, "GPU_GET_ENGINES_V2"},
                               {0x20800195, "GPU_GET_COMPUTE_POLICY_CONFIG"},
                               {0x208001a3, "GET_GPU_FABRIC_PROBE_INFO"},
                               {0x20800403, "TIMER_GET_TIME"},
                               {0x20800406, "TIMER_GET_GPU_CPU_TIME_CORRELATION_INFO"},
                               {0x20801201, "GR_GET_INFO"},
                               {0x20801210, "GR_SET_CTXSW_PREEMPTION_MODE"},
                               {0x20801218, "GR_GET_CTX_BUFFER_SIZE"},
                               {0x2080121b, "GR_GET_GLOBAL_SM_ORDER"},
                               {0x20801227, "GR_GET_CAPS_V2"},
                               {0x2080122a, "GR_GET_GPC_MASK"},
                               {0x2080122b, "GR_GET_TPC_MASK"},
                               {0x20801230, "GR_GET_SM_ISSUE_RATE_MODIFIER"},
                               {0x20801303, "FB_GET_INFO_V2"},
                               {0x20801701, "MC_GET_ARCH_INFO"},
                               {0x20801801, "BUS_GET_PCI_INFO"},
                               {0x20801803, "BUS_GET_PCI_BAR_INFO"},
                               {0x20801823, "BUS_GET_INFO_V2"},
                               {0x2080182a, "BUS_GET_PCIE_SUPPORTED_GPU_ATOMICS"},
                               {0x2080182b, "BUS_GET_C2C_INFO"},
                               {0x2080200a, "PERF_BOOST"},
                               {0x2080220c, "RC_RELEASE_WATCHDOG_REQUESTS"},
                               {0x20802210, "RC_SOFT_DISABLE_WATCHDOG"},
                               {0x20802a0a, "CE_GET_ALL_CAPS"},
                               {0x20803001, "NVLINK_GET_NVLINK_CAPS"},
                               {0x20803002, "NVLINK_GET_NVLINK_STATUS"},
                               {0x20803601, "GSP_GET_FEATURES"},
                               {0x20803801, "GRMGR_GET_GR_FS_INFO"},
                               {0x503c0102, "REGISTER_VA_SPACE"},
                               {0x503c0104, "REGISTER_VIDMEM"},
                               {0x503c0105, "UNREGISTER_VIDMEM"},
                               {0x83de0309, "DEBUG_SET_EXCEPTION_MASK"},
                               {0x906f0101, "GET_CLASS_ENGINEID"},
                               {0x90e60102, "MASTER_GET_VIRTUAL_FUNCTION_ERROR_CONT_INTR_MASK"},
                               {0xa06c0101, "GPFIFO_SCHEDULE (group)"},
                               {0xa06c0103, "SET_TIMESLICE"},
                               {0xa06f0103, "GPFIFO_SCHEDULE"},
                               {0xa06f0104, "BIND"},
                               {0xc36f0108, "GPFIFO_GET_WORK_SUBMIT_TOKEN"}};

// RM_ALLOC's class.
constexpr Named kClasses[] = {{0x3e, "MEMORY_SYSTEM"},
                              {0x40, "MEMORY_LOCAL_USER"},
                              {0x41, "ROOT_CLIENT"},
                              {0x70, "MEMORY_VIRTUAL"},
                              {0x71, "MEMORY_SYSTEM_OS_DESCRIPTOR"},
                              {0x79, "EVENT_OS_EVENT"},
                              {0x80, "DEVICE"},
                              {0xde, "USER_SHARED_DATA"},
                              {0x2080, "SUBDEVICE"},
                              {0x2081, "BINAPI"},
                              {0x503c, "THIRD_PARTY_P2P"},
                              {0x50a0, "MEMORY_VIRTUAL (0x50a0)"},
                              {0x83de, "DEBUGGER"},
                              {0x9067, "CONTEXT_SHARE"},
                              {0x90e6, "SUBDEVICE_MASTER"},
                              {0x90f1, "VASPACE"},
                              {0xa06c, "CHANNEL_GROUP"},
                              {0xc361, "USERMODE (0xc361)"},
                              {0xc461, "USERMODE (0xc461)"},
                              {0xc46f, "GPFIFO (0xc46f)"},
                              {0xc561, "USERMODE (0xc561)"},
                              {0xc56f, "GPFIFO (0xc56f)"},
                              {0xc5b5, "DMA_COPY (0xc5b5)"},
                              {0xc5c0, "COMPUTE (0xc5c0)"},
                              {0xc661, "USERMODE (0xc661)"},
                              {0xc6b5, "DMA_COPY (0xc6b5)"},
                              {0xc6c0, "COMPUTE (0xc6c0)"},
                              {0xc761, "USERMODE (0xc761)"},
                              {0xc7c0, "COMPUTE (0xc7c0)"},
                              {0xc86f, "GPFIFO (0xc86f)"},
                              {0xc8b5, "DMA_COPY (0xc8b5)"},
                              {0xc96f, "GPFIFO (0xc96f)"},
                              {0xc9b5, "DMA_COPY (0xc9b5)"},
                              {0xc9c0, "COMPUTE (0xc9c0)"},
                              {0xcb33, "CONFIDENTIAL_COMPUTE"},
                              {0xcbc0, "COMPUTE (0xcbc0)"},
                              {0xcdc0, "COMPUTE (0xcdc0)"}};

constexpr Named kUvm[] = {{23, "UVM_CREATE_RANGE_GROUP"},
                          {24, "UVM_DESTROY_RANGE_GROUP"},
                          {25, "UVM_REGISTER_GPU_VASPACE"},
                          {26, "UVM_UNREGISTER_GPU_VASPACE"},
                          {27, "UVM_REGISTER_CHANNEL"},
                          {28, "UVM_UNREGISTER_CHANNEL"},
                          {29, "UVM_ENABLE_PEER_ACCESS"},
                          {30, "UVM_DISABLE_PEER_ACCESS"},
                          {31, "UVM_SET_RANGE_GROUP"},
                          {33, "UVM_MAP_EXTERNAL_ALLOCATION"},
                          {34, "UVM_FREE"},
                          {37, "UVM_REGISTER_GPU"},
                          {38, "UVM_UNREGISTER_GPU"},
                          {39, "UVM_PAGEABLE_MEM_ACCESS"},
                          {42, "UVM_SET_PREFERRED_LOCATION"},
                          {43, "UVM_UNSET_PREFERRED_LOCATION"},
                          {46, "UVM_SET_ACCESSED_BY"},
                          {47, "UVM_UNSET_ACCESSED_BY"},
                          {51, "UVM_MIGRATE"},
                          {65, "UVM_MAP_DYNAMIC_PARALLELISM_REGION"},
                          {66, "UVM_UNMAP_EXTERNAL"},
                          {68, "UVM_ALLOC_SEMAPHORE_POOL"},
                          {71, "UVM_POPULATE_PAGEABLE"},
                          {72, "UVM_VALIDATE_VA_RANGE"},
                          {73, "UVM_CREATE_EXTERNAL_RANGE"},
                          {74, "UVM_MAP_EXTERNAL_SPARSE"},
                          {75, "UVM_MM_INITIALIZE"},
                          {80, "UVM_DISCARD"},
                          {0x30000001, "UVM_INITIALIZE"},
                          {0x30000002, "UVM_DEINITIALIZE"}};

// Those that tests of one's own are likely to meet; the others keep their numbers.
constexpr Named kStatus[] = {{0x02, "NV_ERR_BUFFER_TOO_SMALL"},
                             {0x03, "NV_ERR_BUSY_RETRY"},
                             {0x05, "NV_ERR_CARD_NOT_PRESENT"},
                             {0x0f, "NV_ERR_GPU_IS_LOST"},
                             {0x17, "NV_ERR_IN_USE"},
                             {0x1a, "NV_ERR_INSUFFICIENT_RESOURCES"},
                             {0x1b, "NV_ERR_INSUFFICIENT_PERMISSIONS"},
                             {0x1e, "NV_ERR_INVALID_ADDRESS"},
                             {0x1f, "NV_ERR_INVALID_ARGUMENT"},
                             {0x22, "NV_ERR_INVALID_CLASS"},
                             {0x23, "NV_ERR_INVALID_CLIENT"},
                             {0x24, "NV_ERR_INVALID_COMMAND"},
                             {0x26, "NV_ERR_INVALID_DEVICE"},
                             {0x31, "NV_ERR_INVALID_OBJECT"},
                             {0x33, "NV_ERR_INVALID_OBJECT_HANDLE"},
                             {0x36, "NV_ERR_INVALID_OBJECT_PARENT"},
                             {0x3a, "NV_ERR_INVALID_PARAM_STRUCT"},
                             {0x40, "NV_ERR_INVALID_STATE"},
                             {0x51, "NV_ERR_NO_MEMORY"},
                             {0x55, "NV_ERR_NOT_READY"},
                             {0x56, "NV_ERR_NOT_SUPPORTED"},
                             {0x57, "NV_ERR_OBJECT_NOT_FOUND"},
                             {0x59, "NV_ERR_OPERATING_SYSTEM"},
                             {0x62, "NV_ERR_RESET_REQUIRED"},
                             {0x65, "NV_ERR_TIMEOUT"},
                             {0x6a, "NV_ERR_LIB_RM_VERSION_MISMATCH"},
                             {0xffff, "NV_ERR_GENERIC"}};

constexpr std::uint32_t packed(std::uint32_t major, std::uint32_t minor) {
  return major << 20U | minor;
}
constexpr std::uint32_t kAnyMinor = packed(0xfff, 0);
constexpr std::uint32_t kNumberOnly = 0xff;
constexpr std::uint32_t kNumberAndSize = 0x3fff'00ff;
constexpr std::uint32_t sized(std::uint32_t number, std::uint32_t bytes) {
  return bytes << 16U | number;
}

// RM_ALLOC's argument was lengthened once, and the status moved; a size that is neither has its class only.
constexpr RequestRule kRules[] = {
    {packed(kMajor, 0), kAnyMinor, sized(kRmControl, 32), kNumberAndSize, 8, 28},
    {packed(kMajor, 0), kAnyMinor, kRmControl, kNumberOnly, 8, RequestRule::kNowhere},
    {packed(kMajor, 0), kAnyMinor, sized(kRmAlloc, 48), kNumberAndSize, 12, 40},
    {packed(kMajor, 0), kAnyMinor, sized(kRmAlloc, 32), kNumberAndSize, 12, 28},
    {packed(kMajor, 0), kAnyMinor, kRmAlloc, kNumberOnly, 12, RequestRule::kNowhere},
    {packed(kMajor, 0), kAnyMinor, kXferCommand, kNumberOnly, 0, RequestRule::kNowhere},
};

std::string rm_request(const CallDetail& detail) {
  const std::uint32_t number = request_number(detail.request);
  const std::string_view name = find_name(kRm, number);
  std::string text = name.empty() ? number_text(detail.request) : std::string(name);
  if (detail.has_command) {
    const std::span<const Named> words = number == kRmControl ? std::span<const Named>(kControls)
                                         : number == kRmAlloc ? std::span<const Named>(kClasses)
                                                              : std::span<const Named>(kRm);
    text += " " + name_or_number(words, detail.command);
  }
  if (detail.status != 0) text += " status " + name_or_number(kStatus, detail.status);
  return text;
}

}  // namespace

std::span<const RequestRule> nvidia_rules() {
  return kRules;
}

RequestNames nvidia_names(const CallDetail& detail, const DeviceName& device) {
  if (detail.file != FileKind::character_device) return {};
  if (detail.major() == kMajor) {
    if (detail.minor() == kControlMinor) return {"nvidiactl", rm_request(detail)};
    // Its requests are of another kind, and not known here.
    if (detail.minor() == kModesetMinor) return {"nvidia-modeset", number_text(detail.request)};
    return {"nvidia" + std::to_string(detail.minor()), rm_request(detail)};
  }
  // Its major number is chosen when the module is loaded.
  if (device.family == "nvidia-uvm" || device.node.rfind("nvidia-uvm", 0) == 0) {
    return {detail.minor() == 0 ? "nvidia-uvm" : "nvidia-uvm-tools", name_or_number(kUvm, detail.request)};
  }
  return {};
}

}  // namespace syscost::gpu
