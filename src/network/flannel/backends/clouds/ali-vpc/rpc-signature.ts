/** Signatures of Alibaba Cloud's RPC APIs, version 1.0: HMAC-SHA1 over the sorted parameters. */
import { createHmac } from 'node:crypto'

/** Encodes all but the unreserved characters of RFC 3986. */
const encoded = (text: string): string =>
  encodeURIComponent(text).replace(/[!'()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`)

/**
 * Returns the query of a request, with its signature.
 * @example signedQuery('GET', { Action: 'DescribeRegions', AccessKeyId: 'testid', … }, 'testsecret')
 */
export function signedQuery(method: string, parameters: Readonly<Record<string, string>>, secret: string): string {
  const query = Object.entries(parameters)
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map((pair) => pair.map(encoded).join('='))
    .join('&')
  const text = [method, encoded('/'), encoded(query)].join('&')
  const signature = createHmac('sha1', `${secret}&`).update(text).digest('base64')
  return `${query}&Signature=${encoded(signature)}`
}
