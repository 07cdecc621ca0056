/** Names of clusters, and the defaults that follow from a name: its own data directory, port and context. */
import { join } from 'node:path'
import { InvalidArgumentError } from 'commander'
import { stateDirectory } from './records.ts'

/** The name of a detached cluster without `--name`. */
export const defaultName = 'default'

/** Parses a name, which is part of the names of files and contexts. */
export function clusterName(text: string): string {
  if (!/^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/.test(text))
    throw new InvalidArgumentError('It must have up to 63 lower-case letters, digits and hyphens, such as dev-2.')
  return text
}

/** The context of a named cluster in the kubeconfigs that kubectl reads. */
export const contextOf = (name: string): string => `typernetes-${name}`

/** The data directory of a named cluster. */
export const dataDirectoryOf = (name: string, environment: NodeJS.ProcessEnv): string =>
  join(stateDirectory(environment), 'data', name)
