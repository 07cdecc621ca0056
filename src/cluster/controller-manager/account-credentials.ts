/**
 * Tokens of service accounts, asked for by somebody who may (TokenRequest), and asked for again before they expire: as
 * kube-controller-manager does it.
 */
import type { AuthenticationV1TokenRequest } from '@kubernetes/client-node'
import type { Credentials } from '../../client/connection/credentials/credentials.ts'
import { namespaces, serviceAccounts } from '../../client/kinds.ts'
import { isConflict } from '../../client/rest/api-errors.ts'
import type { RestClient } from '../../client/rest/rest-client.ts'
import { StatusError } from '../../machinery/status-error.ts'

/** Upstream's numbers: a token holds an hour, and is renewed when a fifth of that is left. */
const heldSeconds = 3600
const leftShare = 0.2
/** A server that refuses everything is not asked for tokens with each request. Milliseconds. */
const shortestAgeMs = 5_000

/** What is asked of the cluster. */
export type TokenGiver = Pick<RestClient, 'createUnder' | 'find' | 'create'>

interface Token {
  readonly value: string
  readonly madeMs: number
  readonly expiresMs: number
}

/**
 * Those of an account of `namespace`, which is made if it is missing; `client` may do that. `now` gives ms since 1970.
 */
export function accountCredentials(
  client: TokenGiver,
  namespace: string,
  name: string,
  now: () => number = Date.now,
): Credentials {
  let token: Token | undefined
  let asking: Promise<Token> | undefined

  const ask = (): Promise<Token> => {
    asking ??= request().finally(() => {
      asking = undefined
    })
    return asking
  }

  async function request(): Promise<Token> {
    const madeMs = now()
    const body = {
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'TokenRequest',
      spec: { expirationSeconds: heldSeconds },
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
      if (known && now() < known.expiresMs - (known.expiresMs - known.madeMs) * leftShare)
        return `Bearer ${known.value}`
      // As long as the old one holds, it does where there is no new one.
      const current = known && now() < known.expiresMs ? await ask().catch(() => known) : await ask()
      return `Bearer ${current.value}`
    },
    invalidate() {
      if (!token || now() - token.madeMs < shortestAgeMs) return false
      token = undefined
      return true
    },
  }
}

async function makeAccount(client: TokenGiver, namespace: string, name: string): Promise<void> {
  const unlessThere = (error: unknown): void => {
    if (!isConflict(error)) throw error
  }
  if (!(await client.find(namespaces, '', namespace))) {
    await client
      .create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } })
      .catch(unlessThere)
  }
  await client
    .create(serviceAccounts, { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { namespace, name } })
    .catch(unlessThere)
}
