/** Credentials for other servers: users of a kubeconfig whose names match the servers. Exec plugins are not run. */
import { type Connection, credentialsOf } from './connection.ts'
import { notUsable, readKubeconfigFile, text } from './kubeconfig-file.ts'

export type Credentials = Pick<Connection, 'cert' | 'key' | 'token' | 'tokenFile' | 'basic'>

const httpsPort = ':443'

/**
 * Finds the credentials for a server (`host:port`): a user with that name, else `*.` and a suffix, else `*`, else the
 * user of the current context.
 */
export type NamedUsers = (server: string) => Credentials

/** Rejects with an ExplainedError that names the file. */
export async function readNamedUsers(file: string): Promise<NamedUsers> {
  const config = await readKubeconfigFile(file)
  const users = new Map<string, Credentials>()
  for (const [name, user] of config.entries('user')) {
    if (user.fields.exec || user.fields['auth-provider'])
      throw notUsable(
        file,
        `plug-ins for credentials (exec, auth-provider), which user ${JSON.stringify(name)} has, are not run: ` +
          'give a token or a certificate',
      )
    const credentials = await credentialsOf(user)
    if (!credentials.cert !== !credentials.key) throw notUsable(file, 'client-certificate and client-key go together')
    users.set(name, credentials)
  }
  const { currentContext } = config
  const defaultUser = currentContext ? text(config.entries('context').get(currentContext)?.fields.user) : undefined
  return (server) => {
    for (const name of namesFor(server)) {
      const user = users.get(name)
      if (user) return user
    }
    return (defaultUser && users.get(defaultUser)) || {}
  }
}

/** User names may omit the port 443. */
function* namesFor(server: string): Generator<string> {
  yield* withStars(server)
  if (server.endsWith(httpsPort)) yield* withStars(server.slice(0, -httpsPort.length))
  yield '*'
}

function* withStars(server: string): Generator<string> {
  yield server
  for (let dot = server.indexOf('.'); dot >= 0; dot = server.indexOf('.', dot + 1)) yield `*${server.slice(dot)}`
}
