/**
 * A cache of pods that passed validation without errors and warnings. A controller creates many pods of one template;
 * comparing a pod with a cached one takes a tenth of the time of its validation. Pods are equal if their specs and
 * annotations are, except for the name of the token volume, which is generated for each pod.
 */
import { own } from '../../../lib/own.ts'
import type { Pod, PodSpec, Volume } from './model.ts'

/** The prefix of token volume names. */
export const tokenVolumePrefix = 'kube-api-access-'
const generatedName = new RegExp(`^${tokenVolumePrefix}[a-z0-9]{5}$`)

interface CachedPod {
  readonly spec: PodSpec
  readonly annotations: object | undefined
  readonly tokenVolume: string
}

/** The size of the cache, enough for the templates that create pods at the same time. */
const maxCached = 8

/** The most recent pods first. */
const cached: CachedPod[] = []
/** The last spec that passed validation. */
let lastPassed: PodSpec | undefined
/** The last spec found equal to a cached one, for the warnings that are computed after the validation. */
let lastMatched: PodSpec | undefined

/** Returns true if the pod equals a cached one: it has no errors and no warnings. */
export function isCached({ metadata, spec }: Pod): boolean {
  if (!spec) return false
  if (lastMatched === spec) return true
  if (cached.length === 0) return false
  const tokenVolume = tokenVolumeOf(spec)
  const isLike = (one: CachedPod): boolean =>
    isSame(one.spec, spec, one.tokenVolume, tokenVolume) &&
    isSame(one.annotations, metadata.annotations, one.tokenVolume, tokenVolume)
  const at = cached.findIndex(isLike)
  if (at < 0) return false
  if (at > 0) cached.unshift(...cached.splice(at, 1))
  lastMatched = spec
  return true
}

/** Records that the pod's spec passed validation. */
export function recordPassed({ spec }: Pod): void {
  lastPassed = spec
}

/** Caches a pod without warnings. Its spec and annotations must not change from now on. */
export function cacheIfPassed({ metadata, spec }: Pod): void {
  // Names of claims for ephemeral volumes include the pod's name, so they need validation for each pod.
  if (!spec || spec !== lastPassed || spec.volumes?.some(({ ephemeral }) => ephemeral)) return
  cached.unshift({ spec, annotations: metadata.annotations, tokenVolume: tokenVolumeOf(spec) })
  if (cached.length > maxCached) cached.pop()
}

/** Returns an empty text if there is no token volume, or more than one. */
function tokenVolumeOf({ volumes }: PodSpec): string {
  const isToken = ({ name }: Volume): boolean => generatedName.test(name)
  const first = volumes?.find(isToken)
  return first && first === volumes?.findLast(isToken) ? first.name : ''
}

/** Returns true if two JSON values are equal, where the text `was` in `a` corresponds to `is` in `b`. */
function isSame(a: unknown, b: unknown, was: string, is: string): boolean {
  if (typeof a === 'string') return b === (a === was ? is : a)
  if (a === b) return true
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false
  if (Array.isArray(a)) {
    if (!Array.isArray(b) || a.length !== b.length) return false
    for (let i = 0; i < a.length; i++) if (!isSame(a[i], b[i], was, is)) return false
    return true
  }
  if (Array.isArray(b)) return false
  const x = a as Record<string, unknown>
  const y = b as Record<string, unknown>
  let members = 0
  for (const key in x) {
    if (!isSame(x[key], own(y, key), was, is)) return false
    members++
  }
  for (const _ in y) members--
  return members === 0
}
