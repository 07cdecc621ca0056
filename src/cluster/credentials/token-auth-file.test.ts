import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseTokens } from './token-auth-file.ts'

test('a token file defines users with uids and groups', () => {
  assert.deepEqual(
    parseTokens('s3cret,admin,1,"system:masters"\n\nother,jane,,"dev,ops"\r\nplain,joe,3\n', 'tokens.csv'),
    [
      { token: 's3cret', user: { name: 'admin', uid: '1', groups: ['system:masters'] } },
      { token: 'other', user: { name: 'jane', groups: ['dev', 'ops'] } },
      { token: 'plain', user: { name: 'joe', uid: '3', groups: [] } },
    ],
  )
})

test('quotes inside quoted fields are doubled', () => {
  assert.equal(parseTokens('t,"a ""b"", c",1', 'f')[0]?.user.name, 'a "b", c')
})

test('an error about a bad line has its number but not its token', () => {
  const refused = (text: string, message: RegExp) =>
    assert.throws(
      () => parseTokens(text, 'tokens.csv'),
      (error: Error) => message.test(error.message) && !error.message.includes('s3cret'),
    )
  refused('\ns3cret,admin', /^tokens\.csv:2: there are 2 columns/)
  refused(',admin,1', /^tokens\.csv:1: the token is empty/)
  refused('s3cret,,1', /^tokens\.csv:1: the user name is empty/)
  refused('s3cret,admin,1,"open', /^tokens\.csv:1: a quote is not closed/)
  refused('s3cret,a,1\ns3cret,b,2', /^tokens\.csv:2: the token is the same as on line 1/)
})
