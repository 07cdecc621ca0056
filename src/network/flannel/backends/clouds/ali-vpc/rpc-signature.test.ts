import assert from 'node:assert/strict'
import { test } from 'node:test'
import { signedQuery } from './rpc-signature.ts'

test("a signature is that of the example in Alibaba Cloud's documentation", () => {
  const parameters = {
    Timestamp: '2016-02-23T12:46:24Z',
    Format: 'XML',
    AccessKeyId: 'testid',
    Action: 'DescribeRegions',
    SignatureMethod: 'HMAC-SHA1',
    SignatureNonce: '3ee8c1b8-83d3-44af-a94f-4e0ad82fd6cf',
    Version: '2014-05-26',
    SignatureVersion: '1.0',
  }
  const query = new URLSearchParams(signedQuery('GET', parameters, 'testsecret'))
  assert.equal(query.get('Signature'), 'OLeaidS1JvxuMvnyHOwuJ+uX5qY=')
  assert.equal(query.get('Timestamp'), '2016-02-23T12:46:24Z')
})
