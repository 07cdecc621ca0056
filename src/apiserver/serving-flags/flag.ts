/** Flags of kube-apiserver as data. Names and types are upstream's, help texts are ours. */

/** Types as printed in upstream's help. */
export type FlagType =
  | 'bool'
  | 'string'
  | 'strings'
  | 'stringArray'
  | 'int'
  | 'float'
  | 'duration'
  | 'ip'
  | 'stringToString'
  | 'mapStringString'
  | 'featureGates'
  | 'portRange'
  | 'namedCertKey'
  | 'version'

export interface Flag {
  readonly name: string
  readonly type: FlagType
  /** One sentence without a full stop. */
  readonly help: string
  /** The default as printed in the help; absent for an empty text, 0 and false. */
  readonly usual?: string
  /** `v` for `-v`. */
  readonly short?: string
  /** Why the flag has no effect; absent if it has one. */
  readonly idle?: string
}

/** The flags of one topic: upstream's named flag sets. */
export interface FlagSet {
  readonly name: string
  readonly flags: readonly Flag[]
}

/** A flag with an effect. */
export const works = (name: string, type: FlagType, help: string, usual?: string): Flag => ({ name, type, help, usual })

/** A flag that is accepted without effect; `why` is the reason. */
export const idle = (why: string, name: string, type: FlagType, help: string, usual?: string): Flag => ({
  name,
  type,
  help,
  usual,
  idle: why,
})
