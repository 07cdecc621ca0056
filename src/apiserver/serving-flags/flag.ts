/** What a flag of kube-apiserver is, as data: its name and type are upstream's; the words about it are ours. */

/** As upstream's help prints them. */
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
  /** What it is for, as one sentence without an end. */
  readonly help: string
  /** As the help shows it; absent where that is nothing, 0 or false. */
  readonly usual?: string
  /** `v` for `-v`. */
  readonly short?: string
  /** Why it is taken and changes nothing; absent where it takes effect. */
  readonly idle?: string
}

/** The flags of one topic: upstream's named flag sets. */
export interface FlagSet {
  readonly name: string
  readonly flags: readonly Flag[]
}

/** A flag that takes effect. */
export const works = (name: string, type: FlagType, help: string, usual?: string): Flag => ({ name, type, help, usual })

/** A flag that is accepted and changes nothing, for the reason that `idle` says. */
export const idle = (why: string, name: string, type: FlagType, help: string, usual?: string): Flag => ({
  name,
  type,
  help,
  usual,
  idle: why,
})
