import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { ClaimError, claimMapper } from './claim-mapper.ts'
import type { JwtIssuer } from './jwt-issuer.ts'

const mapped = (issuer: JwtIssuer, claims: Record<string, unknown>): unknown => {
  try {
    return claimMapper(issuer)(claims)
  } catch (error) {
    if (error instanceof ClaimError) return error.message
    throw error
  }
}
const username = { claim: 'sub', prefix: '' }
const named = (more: NonNullable<JwtIssuer['claimMappings']>, rest: JwtIssuer = {}): JwtIssuer => ({
  claimMappings: { username, ...more },
  ...rest,
})

describe('the user from claims', () => {
  const cases: readonly (readonly [string, JwtIssuer, Record<string, unknown>, unknown])[] = [
    [
      'by name and prefix',
      { claimMappings: { username: { claim: 'sub', prefix: 'x:' } } },
      { sub: 'jane' },
      { name: 'x:jane', groups: [] },
    ],
    ['without the claim', named({}), {}, 'oidc: parse username claims "sub": claim not present'],
    [
      'of a number',
      named({}),
      { sub: 7 },
      'oidc: parse username claims "sub": json: cannot unmarshal number into Go value of type string',
    ],
    [
      'of a name that objects inherit',
      named({ username: { claim: 'constructor', prefix: '' } }),
      {},
      'oidc: parse username claims "constructor": claim not present',
    ],
    [
      'by a verified e-mail address',
      named({ username: { claim: 'email', prefix: '' } }),
      { email: 'a@b', email_verified: true },
      { name: 'a@b', groups: [] },
    ],
    [
      'by an e-mail address without email_verified',
      named({ username: { claim: 'email', prefix: '' } }),
      { email: 'a@b' },
      { name: 'a@b', groups: [] },
    ],
    [
      'not by an unverified e-mail address',
      named({ username: { claim: 'email', prefix: '' } }),
      { email: 'a@b', email_verified: false },
      'oidc: email not verified',
    ],
    [
      'not if email_verified is a text',
      named({ username: { claim: 'email', prefix: '' } }),
      { email: 'a@b', email_verified: 'true' },
      "oidc: parse 'email_verified' claim: json: cannot unmarshal string into Go value of type bool",
    ],
    ['by an empty name', named({}), { sub: '' }, { name: '', groups: [] }],
    [
      'not by an expression with an empty result',
      named({ username: { expression: 'claims.sub' } }),
      { sub: '' },
      'oidc: empty username via CEL expression is not allowed',
    ],
    [
      'with groups',
      named({ groups: { claim: 'g', prefix: 'p-' } }),
      { sub: 'j', g: ['a', 'b'] },
      { name: 'j', groups: ['p-a', 'p-b'] },
    ],
    [
      'with one group',
      named({ groups: { claim: 'g', prefix: '' } }),
      { sub: 'j', g: 'a' },
      { name: 'j', groups: ['a'] },
    ],
    ['with no group', named({ groups: { claim: 'g', prefix: '' } }), { sub: 'j' }, { name: 'j', groups: [] }],
    [
      'with groups of another type',
      named({ groups: { claim: 'g', prefix: '' } }),
      { sub: 'j', g: ['a', 1] },
      'oidc: parse groups claim "g": json: cannot unmarshal array into Go value of type string',
    ],
    ['with a uid', named({ uid: { claim: 'id' } }), { sub: 'j', id: 'u1' }, { name: 'j', groups: [], uid: 'u1' }],
    ['without its uid', named({ uid: { claim: 'id' } }), { sub: 'j' }, 'oidc: parse uid claim "id": claim not present'],
    [
      'by expressions',
      {
        claimMappings: {
          username: { expression: "claims.org + ':' + claims.sub" },
          groups: { expression: "claims.roles.split(',')" },
          uid: { expression: 'string(claims.number)' },
          extra: [
            { key: 'example.com/tenant', valueExpression: 'claims.org' },
            { key: 'example.com/none', valueExpression: "''" },
            { key: 'example.com/maybe', valueExpression: 'has(claims.missing) ? dyn([claims.missing]) : dyn(null)' },
          ],
        },
      },
      { sub: 'jane', org: 'acme', roles: 'dev,,ops', number: 7 },
      { name: 'acme:jane', groups: ['dev', 'ops'], uid: '7', extra: { 'example.com/tenant': ['acme'] } },
    ],
    [
      'by an expression of another type',
      { claimMappings: { username: { expression: 'claims.n' } } },
      { n: 1 },
      'oidc: error evaluating username claim expression: username claim expression must return a string',
    ],
    [
      'by an expression that fails',
      { claimMappings: { username: { expression: 'claims.n' } } },
      {},
      "oidc: error evaluating username claim expression: expression 'claims.n' resulted in error: no such key: n",
    ],
    [
      'by groups of another type',
      named({ groups: { expression: '[1]' } }),
      { sub: 'j' },
      'oidc: error evaluating group claim expression: expression must return a string or a list of strings',
    ],
    [
      'if a required claim matches',
      named({}, { claimValidationRules: [{ claim: 'hd', requiredValue: 'b' }] }),
      { sub: 'j', hd: 'b' },
      { name: 'j', groups: [] },
    ],
    [
      'not if a required claim is missing',
      named({}, { claimValidationRules: [{ claim: 'hd', requiredValue: 'b' }] }),
      { sub: 'j' },
      'oidc: required claim hd not present in ID token',
    ],
    [
      'not if a required claim differs',
      named({}, { claimValidationRules: [{ claim: 'hd', requiredValue: 'b' }] }),
      { sub: 'j', hd: 'c' },
      'oidc: required claim hd value does not match. Got = c, want = b',
    ],
    [
      'not if a claim rule fails',
      named(
        {},
        { claimValidationRules: [{ expression: 'claims.exp - claims.nbf <= 86400', message: 'lives too long' }] },
      ),
      { sub: 'j', exp: 200_000, nbf: 1 },
      "oidc: error evaluating claim validation expression: validation expression 'claims.exp - claims.nbf <= " +
        "86400' failed: lives too long",
    ],
    [
      'not if a user rule fails',
      named({}, { userValidationRules: [{ expression: "!user.username.startsWith('system:')", message: 'reserved' }] }),
      { sub: 'system:admin' },
      'oidc: error evaluating user info validation rule: validation expression ' +
        "'!user.username.startsWith('system:')' failed: reserved",
    ],
    [
      'with empty fields visible to user rules',
      named({}, { userValidationRules: [{ expression: "user.uid == '' && user.groups == [] && user.extra == {}" }] }),
      { sub: 'j' },
      { name: 'j', groups: [] },
    ],
    [
      'by a claim with dots in its name, as a field',
      {
        claimMappings: {
          username: { expression: "'sa:' + claims.kubernetes__dot__io.namespace" },
          uid: { expression: 'claims.kubernetes__dot__io.list[0].uid__dot__io' },
          extra: [
            { key: 'bio.snorlax.org/3', valueExpression: "[string(claims['kubernetes.io'].yes)] + ['a', 'b']" },
            { key: 'x-y.example.com/n', valueExpression: 'string(int(claims.kubernetes__dot__io.warnafter))' },
          ],
        },
        claimValidationRules: [
          { expression: 'has(claims.kubernetes__dot__io.list[0].uid__dot__io)' },
          { expression: '!has(claims.kubernetes__dot__io.missing__dot__io)' },
          { expression: 'claims[?"kubernetes.io"]["node"]["ip"].orValue(true)' },
        ],
        userValidationRules: [
          { expression: 'user.extra.bio__dot__snorlax__dot__org__slash__3.size() == 3' },
          { expression: 'has(user.extra.x__dash__y__dot__example__dot__com__slash__n)' },
          { expression: "user.extra[?'test.x-kubernetes.io/missing'].orValue([]) == []" },
        ],
      },
      { 'kubernetes.io': { namespace: 'ns', yes: true, list: [{ 'uid.io': '7' }], warnafter: 1700081020, node: {} } },
      {
        name: 'sa:ns',
        groups: [],
        uid: '7',
        extra: { 'bio.snorlax.org/3': ['true', 'a', 'b'], 'x-y.example.com/n': ['1700081020'] },
      },
    ],
    [
      'with the id of the token',
      named(
        {},
        {
          userValidationRules: [
            { expression: "user.extra['authentication.kubernetes.io/credential-id'] == ['JTI=ea28']" },
          ],
        },
      ),
      { sub: 'j', jti: 'ea28' },
      { name: 'j', groups: [], extra: { 'authentication.kubernetes.io/credential-id': ['JTI=ea28'] } },
    ],
    ['without an id of another type', named({}), { sub: 'j', jti: 7 }, { name: 'j', groups: [] }],
    [
      'not by a missing nested claim',
      { claimMappings: { username: { expression: 'claims.sub' }, groups: { expression: 'claims.a.b.c.d' } } },
      { sub: 'j', a: { z: 1 } },
      "oidc: error evaluating group claim expression: expression 'claims.a.b.c.d' resulted in error: no such key: b",
    ],
    [
      'by a missing optional claim',
      {
        claimMappings: {
          username: { expression: 'claims.sub' },
          groups: { expression: "claims.a.?b.c.d.orValue(['claus'])" },
        },
      },
      { sub: 'j', a: { z: 1 } },
      { name: 'j', groups: ['claus'] },
    ],
    [
      'with groups that are null',
      { claimMappings: { username: { expression: 'claims.sub' }, groups: { expression: 'claims.groups' } } },
      { sub: ' ', groups: null },
      { name: ' ', groups: [] },
    ],
    [
      'not if a rule reads a missing claim',
      named({}, { claimValidationRules: [{ expression: 'claims.hd == "example.com"', message: 'hd' }] }),
      { sub: 'j' },
      'oidc: error evaluating claim validation expression: expression \'claims.hd == "example.com"\' resulted in ' +
        'error: no such key: hd',
    ],
    [
      'with extras that fail',
      named({ extra: [{ key: 'example.com/a', valueExpression: 'claims.nothing' }] }),
      { sub: 'j' },
      "expression 'claims.nothing' resulted in error: no such key: nothing",
    ],
    [
      'with extras of another type',
      named({ extra: [{ key: 'example.com/a', valueExpression: '[1]' }] }),
      { sub: 'j' },
      'oidc: error evaluating extra claim expression: [1]: expression must return a string or a list of strings',
    ],
  ]
  for (const [what, issuer, claims, expected] of cases)
    test(what, () => assert.deepEqual(mapped(issuer, claims), expected))

  test('an expression over the cost limit is rejected', () => {
    const issuer = {
      claimMappings: {
        username: {
          expression: 'claims.l.map(a, claims.l.map(b, claims.l.map(c, claims.l.map(d, a)))).size() > 0 ? "x" : "y"',
        },
      },
    }
    const refused = mapped(issuer, { l: Array.from({ length: 60 }, (_, index) => index) })
    assert.match(String(refused), /cost limit exceeded/)
  })
})
