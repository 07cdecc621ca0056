/** Limits of a container in the form of the OCI specification. */
import type { LinuxContainerResources } from '#protobuf/cri-values_pb.js'
import type { OciResources } from './oci-spec.ts'

/** Zero is unset. */
const set = (value: bigint): number | undefined => (value === 0n ? undefined : Number(value))

export function ociResources(resources: LinuxContainerResources | undefined): OciResources {
  if (!resources) return {}
  const { cpusetCpus, cpusetMems, hugepageLimits, unified } = resources
  const limit = set(resources.memoryLimitInBytes)
  const swap = set(resources.memorySwapLimitInBytes)
  const shares = set(resources.cpuShares)
  const quota = set(resources.cpuQuota)
  const period = set(resources.cpuPeriod)
  return {
    memory: { ...(limit !== undefined && { limit }), ...(swap !== undefined && { swap }) },
    cpu: {
      ...(shares !== undefined && { shares }),
      ...(quota !== undefined && { quota }),
      ...(period !== undefined && { period }),
      ...(cpusetCpus && { cpus: cpusetCpus }),
      ...(cpusetMems && { mems: cpusetMems }),
    },
    hugepageLimits: hugepageLimits
      // A size that the kernel has not, or a limit of nothing in a cgroup without the controller, is no limit.
      .filter(({ limit }) => limit !== 0n)
      .map(({ pageSize, limit }) => ({ pageSize, limit: Number(limit) })),
    ...(Object.keys(unified).length > 0 && { unified }),
  }
}
