/** Messages and exit codes of the two programs when they cannot start, as those of the real ones. */
import { FlagError } from '../../apiserver/serving-flags/index.ts'
import { reasonOf } from '../../lib/explained-error.ts'
import type { ProgramName } from './launcher-script.ts'

export const startupErrorText = (program: ProgramName, error: unknown): string =>
  program === 'etcd' && error instanceof FlagError
    ? `${error.message}\nUsage: etcd [flags]; 'etcd --help' lists them`
    : `Error: ${reasonOf(error)}`

/** etcd has a separate exit code for invalid flags. */
export const exitCode = (program: ProgramName, error: unknown): number =>
  program === 'etcd' && error instanceof FlagError ? 2 : 1
