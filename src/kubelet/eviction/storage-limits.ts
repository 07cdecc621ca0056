/** The limits of local storage: of emptyDir volumes, of pods, and of containers. Pure functions. */
import { podLimits } from '../../api/core/pod/resources/pod-resources.ts'
import { canonicalQuantity, signOf, wholeValue } from '../../machinery/values/quantity.ts'
import { type Pod, specOf } from '../pod-types.ts'
import type { PodUsage } from '../stats/usage/usage-snapshot.ts'

const storage = 'ephemeral-storage'

/** A limit that is exceeded. */
export interface ExceededLimit {
  /** Its name in metrics. */
  readonly signal: 'emptydirfs.limit' | 'ephemeralpodfs.limit' | 'ephemeralcontainerfs.limit'
  /** In upstream's words. */
  readonly message: string
}

/** Returns the first limit that a pod exceeds; undefined if it exceeds none. */
export function exceededLimit(pod: Pod, usage: PodUsage, hasImageFileSystem: boolean): ExceededLimit | undefined {
  const volume = exceededVolume(pod, usage)
  if (volume !== undefined) return { signal: 'emptydirfs.limit', message: volume }
  const whole = exceededPod(pod, usage)
  if (whole !== undefined) return { signal: 'ephemeralpodfs.limit', message: whole }
  const message = exceededContainer(pod, usage, hasImageFileSystem)
  return message === undefined ? undefined : { signal: 'ephemeralcontainerfs.limit', message }
}

function exceededVolume(pod: Pod, { volumes: measured }: PodUsage): string | undefined {
  for (const { name, emptyDir } of specOf(pod).volumes ?? []) {
    const limit = emptyDir?.sizeLimit
    const used = measured.find((one) => one.name === name)?.usedBytes
    if (limit === undefined || used === undefined || signOf(limit) <= 0 || used <= bytesOf(limit)) continue
    return `Usage of EmptyDir volume ${JSON.stringify(name)} exceeds the limit ${quoted(limit)}. `
  }
  return undefined
}

function exceededPod(pod: Pod, { containers, volumes }: PodUsage): string | undefined {
  const limit = podLimits(pod)[storage]
  if (limit === undefined) return undefined
  const parts = [
    ...containers.flatMap(({ writableLayer, logs }) => [writableLayer, logs]),
    ...volumes.filter(({ isEphemeral }) => isEphemeral),
  ]
  const used = parts.reduce((sum, part) => sum + (part?.usedBytes ?? 0), 0)
  if (used <= bytesOf(limit)) return undefined
  return `Pod ephemeral local storage usage exceeds the total limit of containers ${canonicalQuantity(limit)}. `
}

/** Layers on another file system than the kubelet's do not count. */
function exceededContainer(pod: Pod, usage: PodUsage, hasImageFileSystem: boolean): string | undefined {
  for (const { name, writableLayer, logs } of usage.containers) {
    const limit = specOf(pod).containers.find((one) => one.name === name)?.resources?.limits?.[storage]
    if (limit === undefined || signOf(limit) === 0) continue
    const used = (logs?.usedBytes ?? 0) + (hasImageFileSystem ? 0 : (writableLayer?.usedBytes ?? 0))
    if (used > bytesOf(limit)) return `Container ${name} exceeded its local ephemeral storage limit ${quoted(limit)}. `
  }
  return undefined
}

const bytesOf = (quantity: string): number => Number(wholeValue(quantity))
const quoted = (quantity: string): string => JSON.stringify(canonicalQuantity(quantity))
