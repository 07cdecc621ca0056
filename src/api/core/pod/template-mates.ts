/**
 * Pods come by the hundred from one template. One that is like a pod without fault, of which no warning was due, has
 * none either: that is found out in a tenth of the time that its rules take. Alike are pods whose specs and annotations
 * are the same but for the name of the volume with the account's token, which is made up for each pod.
 */
import { own } from '../../../lib/own.ts'
import type { Pod, PodSpec, Volume } from './model.ts'

/** What names of volumes with tokens begin with. */
export const tokenVolumePrefix = 'kube-api-access-'
const madeUp = new RegExp(`^${tokenVolumePrefix}[a-z0-9]{5}$`)

interface Faultless {
  readonly spec: PodSpec
  readonly annotations: object | undefined
  readonly tokenVolume: string
}

/** As many templates as make pods at a time. */
const most = 8

/** The last that were met, newest first. */
const known: Faultless[] = []
/** The last spec that has passed its rules. */
let passed: PodSpec | undefined
/** The last that was found to be like a known one: its rules are followed by its warnings. */
let alike: PodSpec | undefined

/** Whether a pod need not be looked through: all that its spec is asked holds, and there is nothing to tell. */
export function isKnownFaultless({ metadata, spec }: Pod): boolean {
  if (!spec) return false
  if (alike === spec) return true
  if (known.length === 0) return false
  const tokenVolume = tokenVolumeOf(spec)
  const isLike = (one: Faultless): boolean =>
    isSame(one.spec, spec, one.tokenVolume, tokenVolume) &&
    isSame(one.annotations, metadata.annotations, one.tokenVolume, tokenVolume)
  const at = known.findIndex(isLike)
  if (at < 0) return false
  if (at > 0) known.unshift(...known.splice(at, 1))
  alike = spec
  return true
}

/** The pod's spec has passed all rules. */
export function notePassed({ spec }: Pod): void {
  passed = spec
}

/** No warning is due for the pod. From now on nobody may change its spec and its annotations. */
export function noteUnwarned({ metadata, spec }: Pod): void {
  // The names of claims that are made for volumes have the pod's name in them.
  if (!spec || spec !== passed || spec.volumes?.some(({ ephemeral }) => ephemeral)) return
  known.unshift({ spec, annotations: metadata.annotations, tokenVolume: tokenVolumeOf(spec) })
  if (known.length > most) known.pop()
}

/** Empty if there is none, or more than one. */
function tokenVolumeOf({ volumes }: PodSpec): string {
  const isToken = ({ name }: Volume): boolean => madeUp.test(name)
  const first = volumes?.find(isToken)
  return first && first === volumes?.findLast(isToken) ? first.name : ''
}

/** Whether two JSON values are the same, where what is called `was` in the one `is` something else in the other. */
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
