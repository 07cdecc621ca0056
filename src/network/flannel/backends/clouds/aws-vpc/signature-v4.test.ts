import assert from 'node:assert/strict'
import { test } from 'node:test'
import { signedHeaders } from './signature-v4.ts'

/** The scope and the key of AWS's test suite for signatures. */
const scope = { region: 'us-east-1', service: 'service', time: Date.UTC(2015, 7, 30, 12, 36, 0) }
const credentials = {
  accessKeyId: 'AKIDEXAMPLE',
  secretAccessKey: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY',
  sessionToken: undefined,
}

const authorizationOf = (
  method: string,
  path: string,
  { headers = {}, body = '' }: { readonly headers?: Record<string, string>; readonly body?: string } = {},
): string =>
  signedHeaders({ method, url: new URL(`https://example.amazonaws.com${path}`), headers, body }, credentials, scope)
    .authorization!

test("signatures are those of AWS's test suite", () => {
  const prefix = 'AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, '
  assert.equal(
    authorizationOf('GET', '/'),
    `${prefix}SignedHeaders=host;x-amz-date, ` +
      'Signature=5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31',
  )
  assert.equal(
    authorizationOf('GET', '/?Param2=value2&Param1=value1'),
    `${prefix}SignedHeaders=host;x-amz-date, ` +
      'Signature=b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500',
  )
  const form = { headers: { 'Content-Type': 'application/x-www-form-urlencoded' }, body: 'Param1=value1' }
  assert.equal(
    authorizationOf('POST', '/', form),
    `${prefix}SignedHeaders=content-type;host;x-amz-date, ` +
      'Signature=ff11897932ad3f4e8b18135d722051e5ac45fc38421b1da7b9d196a0fe09473a',
  )
})
