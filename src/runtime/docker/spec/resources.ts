/** Limits of containers, to and from the engine's settings. */
import { basename } from 'node:path'
import type { MessageInitShape } from '@bufbuild/protobuf'
import type { LinuxContainerResources, LinuxContainerResourcesSchema } from '#protobuf/cri-values_pb.js'
import type { ContainerInspection, ResourceSettings } from '../engine-types.ts'

/**
 * The settings for limits. Values that are not set are left out: an update does not change them. Files of cgroup v2 and
 * limits of huge pages are ignored, which Docker has not: pods have them by their own cgroup.
 */
export function resourceSettings(resources: LinuxContainerResources): ResourceSettings {
  const { cpuShares, cpuPeriod, cpuQuota, cpusetCpus, cpusetMems, memoryLimitInBytes: memory } = resources
  // Without swap unless it is stated.
  const swap = resources.memorySwapLimitInBytes || memory
  return {
    ...(cpuShares > 0n && { CpuShares: Number(cpuShares) }),
    ...(cpuPeriod > 0n && { CpuPeriod: Number(cpuPeriod) }),
    ...(cpuQuota !== 0n && { CpuQuota: Number(cpuQuota) }),
    ...(cpusetCpus && { CpusetCpus: cpusetCpus }),
    ...(cpusetMems && { CpusetMems: cpusetMems }),
    ...(memory > 0n && { Memory: Number(memory), MemorySwap: Number(swap) }),
  }
}

/** The current limits of a container. */
export function reportedResources({
  HostConfig: settings,
}: ContainerInspection): MessageInitShape<typeof LinuxContainerResourcesSchema> {
  return {
    cpuShares: BigInt(settings.CpuShares ?? 0),
    cpuPeriod: BigInt(settings.CpuPeriod ?? 0),
    cpuQuota: BigInt(settings.CpuQuota ?? 0),
    cpusetCpus: settings.CpusetCpus ?? '',
    cpusetMems: settings.CpusetMems ?? '',
    memoryLimitInBytes: BigInt(settings.Memory ?? 0),
    memorySwapLimitInBytes: BigInt(settings.MemorySwap ?? 0),
    oomScoreAdj: BigInt(settings.OomScoreAdj ?? 0),
  }
}

/** The cgroup of a pod in the form of the engine's driver: a path, or the name of a slice. */
export const cgroupParentOf = (parent: string, driver: string): string =>
  driver === 'systemd' && parent !== '' ? basename(parent) : parent

/** A score that the engine may set. */
export const oomScoreOf = (wanted: number, min: number | undefined): number => Math.max(wanted, min ?? -1000)
