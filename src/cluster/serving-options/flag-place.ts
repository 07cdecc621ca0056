/** Where flags are read: what relative paths start from, where keys are kept, who is told. */
import { resolve } from 'node:path'
import type { FlagValues } from '../../apiserver/serving-flags/index.ts'

export interface FlagPlace {
  readonly flags: FlagValues
  /** What relative paths of flags start from. */
  readonly cwd: string
  /** Where certificates and keys are kept that no flag names; without it keys live in memory. */
  readonly directory?: string
  readonly log: (line: string) => void
}

/** A path that a flag gave; undefined where it gave none. */
export const absolute = (cwd: string, path: string | undefined): string | undefined =>
  path ? resolve(cwd, path) : undefined

/** The path of a flag. */
export const pathOf = ({ flags, cwd }: FlagPlace, name: string): string | undefined => absolute(cwd, flags.text(name))
