/** The usage of published volumes, as drivers report it (`NodeGetVolumeStats`), at most once a minute for each. */
import { type VolumeUsage as ReportedUsage, VolumeUsage_Unit as Unit } from '#protobuf/csi-node_pb.js'
import type { VolumeUsage } from '../../../stats/usage/usage-snapshot.ts'
import { Capability } from './driver/csi-driver-client.ts'
import type { CsiDrivers } from './driver/csi-drivers.ts'

export interface MeasuredVolume {
  /** The name in the pod. */
  readonly name: string
  readonly claim?: { readonly name: string; readonly namespace: string }
  readonly driver: string
  readonly volumeId: string
  readonly path: string
  readonly stagingPath: string
}

interface Measurement {
  readonly volume: MeasuredVolume
  usage: VolumeUsage | undefined
  measuredMs: number
}

const intervalMs = 60_000

export class CsiVolumeStats {
  readonly #drivers: CsiDrivers
  readonly #log: (line: string) => void
  readonly #now: () => number
  /** By the UID of the pod, and the volume's folder. */
  readonly #volumes = new Map<string, Map<string, Measurement>>()

  /** `now` is in ms. */
  constructor(drivers: CsiDrivers, log: (line: string) => void, now: () => number) {
    this.#drivers = drivers
    this.#log = log
    this.#now = now
  }

  add(uid: string, name: string, volume: MeasuredVolume): void {
    const ofPod = this.#volumes.get(uid) ?? new Map<string, Measurement>()
    this.#volumes.set(uid, ofPod)
    if (!ofPod.has(name)) ofPod.set(name, { volume, usage: undefined, measuredMs: Number.NEGATIVE_INFINITY })
  }

  remove(uid: string, name: string): void {
    const ofPod = this.#volumes.get(uid)
    ofPod?.delete(name)
    if (ofPod?.size === 0) this.#volumes.delete(uid)
  }

  /** The last known usages. Old ones are measured in the background. */
  of(uid: string): readonly VolumeUsage[] {
    const measurements = [...(this.#volumes.get(uid)?.values() ?? [])]
    for (const one of measurements) if (this.#now() - one.measuredMs >= intervalMs) void this.#measure(one)
    return measurements.flatMap(({ usage }) => usage ?? [])
  }

  async #measure(measurement: Measurement): Promise<void> {
    const { name, claim, driver, volumeId, path, stagingPath } = measurement.volume
    measurement.measuredMs = this.#now()
    try {
      const client = this.#drivers.client(driver)
      if (!(await client.capabilities()).has(Capability.GET_VOLUME_STATS)) return
      const reported = await client.stats({ volumeId, volumePath: path, stagingTargetPath: stagingPath })
      measurement.usage = { name, ...(claim && { claim }), isEphemeral: false, ...usageOf(reported) }
    } catch (error) {
      this.#log(`cannot measure the volume ${name} at ${path}: ${(error as Error).message}`)
    }
  }
}

function usageOf(reported: readonly ReportedUsage[]) {
  const bytes = reported.find(({ unit }) => unit === Unit.BYTES)
  const inodes = reported.find(({ unit }) => unit === Unit.INODES)
  return {
    capacityBytes: Number(bytes?.total ?? 0n),
    availableBytes: Number(bytes?.available ?? 0n),
    usedBytes: Number(bytes?.used ?? 0n),
    inodes: Number(inodes?.total ?? 0n),
    inodesFree: Number(inodes?.available ?? 0n),
    inodesUsed: Number(inodes?.used ?? 0n),
  }
}
