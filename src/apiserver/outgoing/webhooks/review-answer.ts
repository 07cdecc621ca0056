/** Parses and checks the responses of webhooks to reviews. */
import { isObject, type JsonObject } from '../../../machinery/fields/json.ts'

/**
 * The members of a response. Without kind and version it has the expected ones. Throws an Error for another kind or
 * version.
 */
export function reviewIn(answer: Buffer, kind: string, apiVersion: string): JsonObject {
  const review = fieldsOf(parsed(answer), kind)
  const [actualKind, actualVersion] = [review.kind || kind, review.apiVersion || apiVersion]
  if (actualKind !== kind || actualVersion !== apiVersion) {
    const [otherKind, otherVersion] = [actualKind, actualVersion].map((text) => JSON.stringify(text))
    throw new Error(
      `the webhook answered with kind ${otherKind} of ${otherVersion}, not with ${article(kind)} ${kind} of ` +
        `${apiVersion}`,
    )
  }
  return review
}

/**
 * The members of a part of a response, without null members; throws an Error that contains `type` if it is no object.
 */
export function fieldsOf(value: unknown, type: string): JsonObject {
  if (!isObject(value)) throw new Error(`the webhook's answer is no ${type}`)
  return Object.fromEntries(Object.entries(value).filter(([, member]) => member !== null))
}

const article = (word: string): string => (/^[AEIOU]/.test(word) ? 'an' : 'a')

function parsed(answer: Buffer): unknown {
  try {
    return JSON.parse(answer.toString())
  } catch (error) {
    throw new Error(`the webhook's answer is no JSON: ${error instanceof Error ? error.message : error}`)
  }
}
