/** Reads a context from the user's kubeconfigs as kubectl does, including credentials from exec plugins. */
import { existsSync } from 'node:fs'
import { homedir } from 'node:os'
import { delimiter, join } from 'node:path'
import { ExplainedError } from '../lib/explained-error.ts'
import { type Connection, connectionOf } from './connection.ts'
import { type ExecPlugin, execPluginOf, runExecPlugin } from './exec-plugin.ts'
import { type EntryKind, type KubeconfigEntry, readKubeconfigFile, text } from './kubeconfig-file.ts'

export interface ContextConnection extends Connection {
  /** The namespace of the context. Default: `default`. */
  readonly namespace: string
}

/** A context whose exec plugin, if any, was not run. */
export interface Context extends ContextConnection {
  readonly exec?: ExecPlugin
}

/** The files that kubectl would read. */
export function kubeconfigFiles(environment: NodeJS.ProcessEnv, given?: string): readonly string[] {
  if (given) return [given]
  const listed = environment.KUBECONFIG?.split(delimiter).filter(Boolean) ?? []
  return listed.length > 0 ? listed : [join(environment.HOME || homedir(), '.kube', 'config')]
}

/** Reads a context and runs its exec plugin. Rejects as `contextOf`. */
export async function readContext(files: readonly string[], contextName?: string): Promise<ContextConnection> {
  const { exec, ...connection } = await contextOf(files, contextName)
  return exec ? { ...connection, ...(await runExecPlugin(exec)) } : connection
}

/** Reads a context. Default: the current one. Rejects with an ExplainedError. */
export async function contextOf(files: readonly string[], contextName?: string): Promise<Context> {
  const present = files.filter((file) => existsSync(file))
  const [first] = present
  if (!first) throw new ExplainedError(`there is no kubeconfig at ${files.join(', ')}: use --kubeconfig or KUBECONFIG`)
  const configs = await Promise.all(present.map(readKubeconfigFile))
  const find = (kind: EntryKind, name = ''): KubeconfigEntry => {
    for (const config of configs) {
      const found = config.entries(kind).get(name)
      if (found) return found
    }
    throw new ExplainedError(`${first} has no ${kind} named ${JSON.stringify(name)}`)
  }
  const current = contextName || configs.map(({ currentContext }) => currentContext).find(Boolean)
  if (!current) throw new ExplainedError(`${first} has no current context: choose one with --context`)
  const context = find('context', current).fields
  const cluster = find('cluster', text(context.cluster))
  // A context without credentials has no user.
  const user = context.user ? find('user', text(context.user)) : { fields: {}, folder: '' }
  const url = URL.parse(text(cluster.fields.server) ?? '')
  if (!url) throw new ExplainedError(`${first} has no valid server for the context ${JSON.stringify(current)}`)
  if (user.fields['auth-provider']) {
    throw new ExplainedError(
      `${first} has an auth-provider for the context ${JSON.stringify(current)}, which is obsolete: use exec`,
    )
  }
  const exec = execPluginOf(user, cluster)
  return {
    ...(await connectionOf(url, cluster, user)),
    ...(exec && { exec }),
    namespace: text(context.namespace) ?? 'default',
  }
}
