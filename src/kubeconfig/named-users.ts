/**
 * Who one is to other servers, by their names: the users of a kubeconfig that are called as the servers are. No program
 * that it names is run.
 */
import { type Connection, credentialsOf } from './connection.ts'
import { notUsable, readKubeconfigFile, text } from './kubeconfig-file.ts'

export type Credentials = Pick<Connection, 'cert' | 'key' | 'token' | 'tokenFile' | 'basic'>

const httpsPort = ':443'

/**
 * Finds who one is to a server (`host:port`): by its name, by `*.` and the end of its name, by `*`; the current
 * context's user is for all others.
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
  const usual = currentContext ? text(config.entries('context').get(currentContext)?.fields.user) : undefined
  return (server) => {
    for (const name of namesFor(server)) {
      const user = users.get(name)
      if (user) return user
    }
    return (usual && users.get(usual)) || {}
  }
}

/** The port of HTTPS need not be said. */
function* namesFor(server: string): Generator<string> {
  yield* withStars(server)
  if (server.endsWith(httpsPort)) yield* withStars(server.slice(0, -httpsPort.length))
  yield '*'
}

function* withStars(server: string): Generator<string> {
  yield server
  for (let dot = server.indexOf('.'); dot >= 0; dot = server.indexOf('.', dot + 1)) yield `*${server.slice(dot)}`
}
