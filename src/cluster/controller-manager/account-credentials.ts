/**
 * Tokens of service accounts, requested with TokenRequest and renewed before they expire, as kube-controller-manager
 * does.
 */
import type { AuthenticationV1TokenRequest } from '@kubernetes/client-node'
import type { Credentials } from '../../client/connection/credentials/credentials.ts'
import { namespaces, serviceAccounts } from '../../client/kinds.ts'
import { isConflict } from '../../client/rest/api-errors.ts'
import type { RestClient } from '../../client/rest/rest-client.ts'
import { StatusError } from '../../machinery/status-error.ts'

/** Upstream's numbers: a token is valid for an hour and renewed when a fifth of that is left. */
const lifetimeSeconds = 3600
const renewalShare = 0.2
/**
 * Minimum age in ms of a token that is renewed after a 401, so that a server that rejects all tokens is not asked for
 * one with each request.
 */
const minAgeMs = 5_000

/** The part of the client that is used. */
export type TokenClient = Pick<RestClient, 'createUnder' | 'find' | 'create'>

interface Token {
  readonly value: string
  readonly madeMs: number
  readonly expiresMs: number
}

/**
 * Credentials of a service account in `namespace`, which is created with `client` if missing. `now` returns ms since
 * 1970.
 */
export function accountCredentials(
  client: TokenClient,
  namespace: string,
  name: string,
  now: () => number = Date.now,
): Credentials {
  let token: Token | undefined
  let pending: Promise<Token> | undefined

  const fetchToken = (): Promise<Token> => {
    pending ??= request().finally(() => {
      pending = undefined
    })
    return pending
  }

  async function request(): Promise<Token> {
    const madeMs = now()
    const body = {
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'TokenRequest',
      spec: { expirationSeconds: lifetimeSeconds },
    }
    const make = (): Promise<AuthenticationV1TokenRequest> =>
      client.createUnder(serviceAccounts, namespace, name, 'token', body)
    const { status } = await make().catch(async (error) => {
      if (!(error instanceof StatusError && error.code === 404)) throw error
      await makeAccount(client, namespace, name)
      return make()
    })
    if (!status?.token || !status.expirationTimestamp)
      throw new Error(`the API server gave no token for the service account ${namespace}/${name}`)
    token = { value: status.token, madeMs, expiresMs: new Date(status.expirationTimestamp).getTime() }
    return token
  }

  return {
    async authorization() {
      const known = token
      if (known && now() < known.expiresMs - (known.expiresMs - known.madeMs) * renewalShare)
        return `Bearer ${known.value}`
      // A failed renewal does not matter until the old token has expired.
      const current = known && now() < known.expiresMs ? await fetchToken().catch(() => known) : await fetchToken()
      return `Bearer ${current.value}`
    },
    invalidate() {
      if (!token || now() - token.madeMs < minAgeMs) return false
      token = undefined
      return true
    },
  }
}

async function makeAccount(client: TokenClient, namespace: string, name: string): Promise<void> {
  const ignoreExisting = (error: unknown): void => {
    if (!isConflict(error)) throw error
  }
  if (!(await client.find(namespaces, '', namespace))) {
    await client
      .create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } })
      .catch(ignoreExisting)
  }
  await client
    .create(serviceAccounts, { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { namespace, name } })
    .catch(ignoreExisting)
}
