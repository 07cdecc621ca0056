/** The context of flags: directory of relative paths, directory of keys, log. */
import { resolve } from 'node:path'
import type { FlagValues } from '../../apiserver/serving-flags/index.ts'

export interface FlagContext {
  readonly flags: FlagValues
  /** Relative paths of flags are resolved against it. */
  readonly cwd: string
  /** Directory of certificates and keys without a flag; if undefined, keys live in memory. */
  readonly directory?: string
  readonly log: (line: string) => void
}

/** Returns the absolute path of a flag's value; undefined without a value. */
export const absolute = (cwd: string, path: string | undefined): string | undefined =>
  path ? resolve(cwd, path) : undefined

/** Returns the absolute path of a flag. */
export const pathOf = ({ flags, cwd }: FlagContext, name: string): string | undefined => absolute(cwd, flags.text(name))
