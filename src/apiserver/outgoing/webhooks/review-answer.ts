/** What webhooks answer that are asked with a review, taken apart: nobody knows what it holds. */
import { isObject, type JsonObject } from '../../../machinery/fields/json.ts'

/**
 * The members of an answer. One that does not say what it is, is what was asked for. Throws an Error for one of another
 * kind or version.
 */
export function reviewIn(answer: Buffer, kind: string, apiVersion: string): JsonObject {
  const review = fieldsOf(parsed(answer), kind)
  const [saidKind, saidVersion] = [review.kind || kind, review.apiVersion || apiVersion]
  if (saidKind !== kind || saidVersion !== apiVersion) {
    const [otherKind, otherVersion] = [saidKind, saidVersion].map((text) => JSON.stringify(text))
    throw new Error(
      `the webhook answered with kind ${otherKind} of ${otherVersion}, not with ${article(kind)} ${kind} of ` +
        `${apiVersion}`,
    )
  }
  return review
}

/**
 * The members of a part of an answer, without those that are null; `type` is what it is called in the Error for what
 * has none.
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
