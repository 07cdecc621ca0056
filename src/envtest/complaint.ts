/** What the two programs say when they cannot start, and the exit codes that they end with: those of the real ones. */
import { FlagError } from '../apiserver/serving-flags/index.ts'
import { reasonOf } from '../lib/explained-error.ts'
import type { ProgramName } from './launcher-script.ts'

export const complaint = (program: ProgramName, error: unknown): string =>
  program === 'etcd' && error instanceof FlagError
    ? `${error.message}\nUsage: etcd [flags]; 'etcd --help' lists them`
    : `Error: ${reasonOf(error)}`

/** etcd tells wrong flags from all else. */
export const exitCode = (program: ProgramName, error: unknown): number =>
  program === 'etcd' && error instanceof FlagError ? 2 : 1
