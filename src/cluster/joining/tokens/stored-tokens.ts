/** Creates, lists and deletes the bootstrap tokens of a cluster. */
import { secrets } from '../../../client/kinds.ts'
import { isAlreadyExists, isNotFound } from '../../../client/rest/api-errors.ts'
import type { RestClient } from '../../../client/rest/rest-client.ts'
import { ExplainedError } from '../../../lib/explained-error.ts'
import {
  checkTokenSettings,
  type ListedToken,
  listedToken,
  type TokenSettings,
  tokenNamespace,
  tokenSecret,
  tokenSecretName,
  tokenType,
} from './token-secret.ts'

/** Rejects with an ExplainedError for settings that are not valid, and for an id that is taken. */
export async function createToken(client: RestClient, settings: TokenSettings): Promise<void> {
  checkTokenSettings(settings)
  try {
    await client.create(secrets, tokenSecret(settings))
  } catch (error) {
    if (!isAlreadyExists(error)) throw error
    throw new ExplainedError(
      `a token with id ${JSON.stringify(settings.token.id)} already exists: choose another, or delete it with t8s ` +
        `token delete ${settings.token.id}`,
    )
  }
}

export async function listTokens(client: RestClient): Promise<readonly ListedToken[]> {
  const { items } = await client.list(secrets, { namespace: tokenNamespace, fieldSelector: `type=${tokenType}` })
  return items.flatMap((secret) => listedToken(secret) ?? [])
}

/** Rejects with an ExplainedError if there is no such token. */
export async function deleteToken(client: RestClient, id: string): Promise<void> {
  try {
    await client.delete(secrets, tokenNamespace, tokenSecretName(id))
  } catch (error) {
    if (!isNotFound(error)) throw error
    throw new ExplainedError(
      `failed to delete bootstrap token ${JSON.stringify(id)}: there is none; t8s token list shows the tokens`,
    )
  }
}
