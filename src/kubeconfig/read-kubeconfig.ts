/**
 * Reads a kubeconfig that says how this server reaches another one, such as a webhook. No program that it names is run.
 */
import { type Connection, connectionOf } from './connection.ts'
import { type EntryKind, type KubeconfigEntry, notUsable, readKubeconfigFile, text } from './kubeconfig-file.ts'

export interface ReadKubeconfigOptions {
  /** Whether the server may be spoken to without TLS; false unless said. */
  readonly allowsHttp?: boolean
}

/** What its current context says. Rejects with an ExplainedError that names the file. */
export async function readKubeconfig(
  file: string,
  { allowsHttp = false }: ReadKubeconfigOptions = {},
): Promise<Connection> {
  const config = await readKubeconfigFile(file)
  // With one cluster and one user there is nothing to choose: webhooks' files often have no context.
  const entry = (kind: EntryKind, name: string | undefined): KubeconfigEntry | undefined => {
    const entries = config.entries(kind)
    return name ? entries.get(name) : entries.size === 1 ? [...entries.values()][0] : undefined
  }
  const context = entry('context', config.currentContext)?.fields
  const cluster = entry('cluster', text(context?.cluster))
  const user = entry('user', text(context?.user))
  const server = text(cluster?.fields.server)
  if (!cluster || !server) throw notUsable(file, 'it names no server (clusters[].cluster.server)')
  if (user?.fields.exec || user?.fields['auth-provider'])
    throw notUsable(file, 'plug-ins for credentials (exec, auth-provider) are not run: give a token or a certificate')
  const url = URL.parse(server)
  if (url?.protocol !== 'https:' && !(allowsHttp && url?.protocol === 'http:')) {
    throw notUsable(file, `${JSON.stringify(server)} is no ${allowsHttp ? 'http or https' : 'https'} URL`)
  }
  const connection = await connectionOf(url, cluster, user)
  if (!connection.cert !== !connection.key) throw notUsable(file, 'client-certificate and client-key go together')
  return connection
}
