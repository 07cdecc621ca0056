/** Parses the labels of a namespace (`pod-security.kubernetes.io/enforce`, …) to a policy. */
import { own } from '../../../../lib/own.ts'
import { type FieldError, invalidValue } from '../../../../machinery/validation/field-error.ts'

const levels = ['privileged', 'baseline', 'restricted'] as const
export type Level = (typeof levels)[number]

/** The N of `v1.N`. */
export type Version = number | 'latest'

export interface LevelVersion {
  readonly level: Level
  readonly version: Version
}

export const modes = ['enforce', 'audit', 'warn'] as const
export type Mode = (typeof modes)[number]
export type Policy = Readonly<Record<Mode, LevelVersion>>

/** Returns undefined for an unknown level. */
export const parseLevel = (text: string): Level | undefined => levels.find((level) => level === text)
export const levelFault = `must be one of ${levels.join(', ')}`

/** Returns undefined for anything but `latest` and `v1.N`. */
export function parseVersion(text: string): Version | undefined {
  if (text === 'latest') return text
  const minor = /^v1\.(0|[1-9][0-9]*)$/.exec(text)?.[1]
  return minor === undefined ? undefined : Number(minor)
}
export const versionFault = 'must be "latest" or "v1.x"'

/** Returns a negative number if `a` is less strict than `b`. */
export const compareLevels = (a: Level, b: Level): number => levels.indexOf(a) - levels.indexOf(b)

/** Returns for example `v1.28`. */
export const versionText = ({ version }: LevelVersion): string => (version === 'latest' ? version : `v1.${version}`)

/** Returns for example `baseline:v1.28`. */
export const standardText = (standard: LevelVersion): string => `${standard.level}:${versionText(standard)}`

/** The privileged level is the same in every version. */
export const isSame = (a: LevelVersion, b: LevelVersion): boolean =>
  a.level === b.level && (a.level === 'privileged' || a.version === b.version)

export const isFullyPrivileged = (policy: Policy): boolean => modes.every((mode) => policy[mode].level === 'privileged')

const prefix = 'pod-security.kubernetes.io/'

/** Audit annotations have the prefix of the labels. */
export const annotationKey = (name: string): string => prefix + name

export interface ReadPolicy {
  /** Always set: an unreadable level is enforced as restricted, and neither warned of nor audited. */
  readonly policy: Policy
  readonly faults: readonly FieldError[]
}

const noFaults: readonly FieldError[] = []

export function readPolicy(labels: Readonly<Record<string, string>> | undefined, defaults: Policy): ReadPolicy {
  if (
    !labels ||
    !modes.some(
      (mode) => own(labels, prefix + mode) !== undefined || own(labels, `${prefix}${mode}-version`) !== undefined,
    )
  ) {
    return { policy: defaults, faults: noFaults }
  }
  const faults: FieldError[] = []
  const read = (mode: Mode): LevelVersion => {
    const level = own(labels, prefix + mode)
    const version = own(labels, `${prefix}${mode}-version`)
    const readLevel = level === undefined ? defaults[mode].level : parseLevel(level)
    const readVersion = version === undefined ? defaults[mode].version : parseVersion(version)
    if (readLevel === undefined) faults.push(invalidValue(`metadata.labels[${prefix}${mode}]`, level, levelFault))
    if (readVersion === undefined)
      faults.push(invalidValue(`metadata.labels[${prefix}${mode}-version]`, version, versionFault))
    return { level: readLevel ?? (mode === 'enforce' ? 'restricted' : 'privileged'), version: readVersion ?? 'latest' }
  }
  const enforce = read('enforce')
  const policy = { enforce, audit: read('audit'), warn: read('warn') }
  return {
    policy: warnsAtEnforcedLevel(labels, policy)
      ? { ...policy, warn: { ...enforce, ...versionOf(labels, policy.warn) } }
      : policy,
    faults,
  }
}

/**
 * A namespace that enforces a level without a warn label also warns at this level: pod templates are never rejected, so
 * the warning is the only sign.
 */
const warnsAtEnforcedLevel = (labels: Readonly<Record<string, string>>, { enforce, warn }: Policy): boolean =>
  own(labels, `${prefix}warn`) === undefined &&
  parseLevel(own(labels, `${prefix}enforce`) ?? '') !== undefined &&
  compareLevels(enforce.level, warn.level) > 0

const versionOf = (labels: Readonly<Record<string, string>>, { version }: LevelVersion): Partial<LevelVersion> =>
  own(labels, `${prefix}warn-version`) === undefined ? {} : { version }
