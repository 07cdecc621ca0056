import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { parseConfiguration } from './configuration-file.ts'
import { configurationFaults } from './validate-configuration.ts'

const header = 'apiVersion: apiserver.config.k8s.io/v1\nkind: AuthenticationConfiguration\n'

describe('the file', () => {
  test('is decoded strictly', () => {
    const whole =
      `${header}jwt:\n- issuer:\n    url: https://a\n    audiences: [x]\n  claimMappings:\n    username:\n      ` +
      'claim: sub\n      prefix: ""\n'
    assert.deepEqual(parseConfiguration(whole).jwt, [
      { issuer: { url: 'https://a', audiences: ['x'] }, claimMappings: { username: { claim: 'sub', prefix: '' } } },
    ])
    assert.doesNotThrow(() => parseConfiguration(header.replace('/v1\n', '/v1beta1\n')))
    assert.throws(() => parseConfiguration(''), /^Error: empty config data$/)
    assert.throws(
      () => parseConfiguration(`${header}jwt:\n- issuers: {}\n`),
      /strict decoding error: unknown field "jwt\[0\].issuers"/,
    )
    assert.throws(() => parseConfiguration(`${header}jwt: []\njwt: []\n`), /strict decoding error: .*already set/s)
    assert.throws(
      () => parseConfiguration('apiVersion: apiserver.config.k8s.io/v2\nkind: AuthenticationConfiguration\n'),
      /no kind "AuthenticationConfiguration"/,
    )
    assert.throws(
      () => parseConfiguration(header.replace('Authentication', 'Authorization')),
      /no kind "AuthorizationConfiguration"/,
    )
  })
})

interface Parts {
  readonly issuer?: object
  readonly claimMappings?: object
  readonly [field: string]: unknown
}

/** A valid issuer with some fields replaced. */
const authenticator = ({ issuer, claimMappings, ...more }: Parts = {}) => ({
  issuer: { url: 'https://a.example.com', audiences: ['x'], ...issuer },
  claimMappings: { username: { claim: 'sub', prefix: '' }, ...claimMappings },
  ...more,
})
const faults = (...jwt: readonly Parts[]) =>
  configurationFaults({ jwt: jwt.map(authenticator) }, ['https://own']).map(
    ({ field, message }) => `${field}: ${message}`,
  )

const cases: readonly (readonly [string, Parts, readonly string[]])[] = [
  ['a valid issuer', {}, []],
  ['no url', { issuer: { url: '' } }, ['jwt[0].issuer.url: Required value']],
  [
    'a url without https',
    { issuer: { url: 'http://a' } },
    ['jwt[0].issuer.url: Invalid value: "http://a": URL scheme must be https'],
  ],
  [
    'a url with user, query and fragment',
    { issuer: { url: 'https://u:p@a/?q=1#f' } },
    [
      'jwt[0].issuer.url: Invalid value: "https://u:p@a/?q=1#f": URL must not contain a username or password',
      'jwt[0].issuer.url: Invalid value: "https://u:p@a/?q=1#f": URL must not contain a query',
      'jwt[0].issuer.url: Invalid value: "https://u:p@a/?q=1#f": URL must not contain a fragment',
    ],
  ],
  [
    'the issuer of the server itself',
    { issuer: { url: 'https://own' } },
    ['jwt[0].issuer.url: Invalid value: "https://own": URL must not overlap with disallowed issuers: [https://own]'],
  ],
  [
    'a discovery URL that is the issuer',
    { issuer: { discoveryURL: 'https://a.example.com/' } },
    ['jwt[0].issuer.discoveryURL: Invalid value: "https://a.example.com/": discoveryURL must be different from URL'],
  ],
  [
    'no audience',
    { issuer: { audiences: [] } },
    ['jwt[0].issuer.audiences: Required value: at least one jwt[0].issuer.audiences is required'],
  ],
  [
    'several audiences without a policy',
    { issuer: { audiences: ['x', '', 'x'] } },
    [
      'jwt[0].issuer.audiences[1]: Required value',
      'jwt[0].issuer.audiences[2]: Duplicate value: "x"',
      'jwt[0].issuer.audienceMatchPolicy: Invalid value: "": audienceMatchPolicy must be MatchAny for multiple ' +
        'audiences',
    ],
  ],
  [
    'an unknown policy',
    { issuer: { audienceMatchPolicy: 'MatchAll' } },
    [
      'jwt[0].issuer.audienceMatchPolicy: Invalid value: "MatchAll": audienceMatchPolicy must be empty or ' +
        'MatchAny for single audience',
    ],
  ],
  [
    'an invalid certificate authority',
    { issuer: { certificateAuthority: 'x' } },
    [
      'jwt[0].issuer.certificateAuthority: Invalid value: "<omitted>": data does not contain any valid RSA or ' +
        'ECDSA certificates',
    ],
  ],
  [
    'an unknown egress selector',
    { issuer: { egressSelectorType: 'etcd' } },
    ['jwt[0].issuer.egressSelectorType: Invalid value: "etcd": egress selector must be either controlplane or cluster'],
  ],
  [
    'contradictory rules',
    {
      claimValidationRules: [
        { claim: 'a', expression: 'true' },
        {},
        { claim: 'a', message: 'm' },
        { claim: 'a' },
        { expression: 'true', requiredValue: 'v' },
        { expression: 'true' },
        { expression: 'claims.a' },
      ],
    },
    [
      'jwt[0].claimValidationRules[0]: Invalid value: "a": claim and expression can\'t both be set',
      'jwt[0].claimValidationRules[1]: Required value: claim or expression is required',
      'jwt[0].claimValidationRules[2].message: Invalid value: "m": may not be specified when claim is set',
      'jwt[0].claimValidationRules[3].claim: Duplicate value: "a"',
      'jwt[0].claimValidationRules[4].requiredValue: Invalid value: "v": may not be specified when expression is set',
      'jwt[0].claimValidationRules[5].expression: Duplicate value: "true"',
      'jwt[0].claimValidationRules[6].expression: Invalid value: "claims.a": must evaluate to bool',
    ],
  ],
  [
    'no username',
    { claimMappings: { username: {} } },
    ['jwt[0].claimMappings.username: Required value: claim or expression is required'],
  ],
  [
    'a claim without a prefix',
    { claimMappings: { username: { claim: 'sub' } } },
    [
      'jwt[0].claimMappings.username.prefix: Required value: prefix is required when claim is set. It can be set ' +
        'to an empty string to disable prefixing',
    ],
  ],
  [
    'an expression with a prefix',
    { claimMappings: { groups: { expression: 'claims.g', prefix: 'p' } } },
    ['jwt[0].claimMappings.groups.prefix: Invalid value: "p": may not be specified when expression is set'],
  ],
  [
    'claim and expression',
    { claimMappings: { uid: { claim: 'a', expression: 'b' } } },
    ['jwt[0].claimMappings.uid: Invalid value: "": claim and expression can\'t both be set'],
  ],
  [
    'an unverified e-mail address',
    { claimMappings: { username: { expression: 'claims.?email.orValue("x")' } } },
    [
      'jwt[0].claimMappings.username.expression: Invalid value: "claims.?email.orValue(\\"x\\")": ' +
        'claims.email_verified must be used in claimMappings.username.expression or ' +
        'claimMappings.extra[*].valueExpression or claimValidationRules[*].expression when claims.email is used in ' +
        'claimMappings.username.expression',
    ],
  ],
  [
    'an e-mail address that a rule verifies',
    {
      claimMappings: { username: { expression: 'claims.email' } },
      claimValidationRules: [{ expression: 'claims.?email_verified.orValue(true) == true' }],
    },
    [],
  ],
  [
    'invalid or reserved keys',
    {
      claimMappings: {
        extra: [
          { key: 'foo', valueExpression: "'a'" },
          { key: 'example.com/Foo', valueExpression: "'a'" },
          { key: 'x.k8s.io/a', valueExpression: "'a'" },
          { key: 'example.com/a' },
          { key: 'example.com/a', valueExpression: "'a'" },
        ],
      },
    },
    [
      'jwt[0].claimMappings.extra[0].key: Invalid value: "foo": must be a domain-prefixed path (such as "acme.io/foo")',
      'jwt[0].claimMappings.extra[1].key: Invalid value: "example.com/Foo": must be lowercase',
      'jwt[0].claimMappings.extra[2].key: Invalid value: "x.k8s.io/a": k8s.io, kubernetes.io and their ' +
        'subdomains are reserved for Kubernetes use',
      'jwt[0].claimMappings.extra[3].valueExpression: Required value',
      'jwt[0].claimMappings.extra[4].key: Duplicate value: "example.com/a"',
    ],
  ],
  [
    'user validation rules',
    { userValidationRules: [{}, { expression: 'user.username' }] },
    [
      'jwt[0].userValidationRules[0].expression: Required value',
      'jwt[0].userValidationRules[1].expression: Invalid value: "user.username": must evaluate to bool',
    ],
  ],
]

describe('faults of a configuration', () => {
  for (const [what, parts, expected] of cases) test(what, () => assert.deepEqual(faults(parts), expected))

  test('an expression that does not compile', () => {
    assert.match(
      faults({ claimMappings: { username: { expression: 'claims.' } } })[0] ?? '',
      new RegExp(
        String.raw`^jwt\[0\]\.claimMappings\.username\.expression: Invalid value: "claims\.": compilation failed: ` +
          'ERROR: <input>:1:8',
      ),
    )
  })

  test('an issuer that is listed twice', () => {
    const twice = { issuer: { discoveryURL: 'https://d' } }
    assert.deepEqual(faults(twice, twice), [
      'jwt[1].issuer.url: Duplicate value: "https://a.example.com"',
      'jwt[1].issuer.discoveryURL: Duplicate value: "https://d"',
    ])
    assert.deepEqual(faults(...Array.from({ length: 65 }, () => ({}))), [
      'jwt: Too many: 65: must have at most 64 items',
    ])
  })

  test('conditions of disabled anonymous authentication', () => {
    const [fault] = configurationFaults({ anonymous: { enabled: false, conditions: [{ path: '/livez' }] } }, [])
    assert.equal(
      `${fault?.field}: ${fault?.message}`,
      'anonymous.conditions: Invalid value: [{"Path":"/livez"}]: enabled should be set to true when conditions ' +
        'are defined',
    )
  })
})
