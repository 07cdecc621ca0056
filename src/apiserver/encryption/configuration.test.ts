import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readEncryptionConfiguration } from './configuration.ts'

const head = 'apiVersion: apiserver.config.k8s.io/v1\nkind: EncryptionConfiguration\n'
const key = Buffer.alloc(32).toString('base64')
const rule = (resources: string, providers: string): string =>
  `${head}resources: [{resources: ${resources}, providers: ${providers}}]`

test('a configuration with all providers is valid', () => {
  const providers =
    '[{kms: {apiVersion: v2, name: k, endpoint: "unix:///run/k.sock"}}, {aescbc: {keys: [{name: a, secret: ' +
    `${key}}]}}, {aesgcm: {keys: [{name: a, secret: ${key}}]}}, {secretbox: {keys: [{name: a, secret: ${key}}]}}, ` +
    '{identity: {}}]'
  const { resources } = readEncryptionConfiguration(rule('[secrets, "*.apps"]', providers))
  assert.equal(resources?.[0]?.providers?.length, 5)
})

test('a key may contain line breaks', () => {
  const secret = JSON.stringify(`${key.slice(0, 20)}\r\n${key.slice(20)}\n`)
  assert.ok(readEncryptionConfiguration(rule('[secrets]', `[{aescbc: {keys: [{name: a, secret: ${secret}}]}}]`)))
})

const faults: readonly (readonly [what: string, yaml: string, message: RegExp])[] = [
  ['an empty configuration', head, /^resources: Required value: at least one resources is required$/],
  ['another kind', 'apiVersion: v1\nkind: Secret', /no kind "Secret" is registered/],
  ['an unknown field', `${head}nonsense: 1`, /strict decoding error: unknown field "nonsense"/],
  [
    'no resources',
    rule('[]', '[{identity: {}}]'),
    /^resources\[0\]\.resources: Required value: at least one resources\[0\]\.resources is required$/,
  ],
  ['no providers', rule('[secrets]', '[]'), /^resources\[0\]\.providers: Required value/],
  ['capital letters', rule('[Secrets]', '[{identity: {}}]'), /resource name should not contain capital letters/],
  ['a lone star', rule('["*"]', '[{identity: {}}]'), /use '\*\.' to encrypt all the resources from core API group/],
  ['masked resources', rule('[secrets, "*."]', '[{identity: {}}]'), /overlapping resources/],
  [
    'a resource twice',
    rule('[secrets, secrets]', '[{identity: {}}]'),
    /the same resource cannot be specified multiple times$/,
  ],
  [
    'all of a group twice',
    rule('["*.", "*."]', '[{identity: {}}]'),
    /the same resource cannot be specified multiple times, .* overlapping resources/,
  ],
  [
    'all groups of one resource',
    rule('["secrets.*"]', '[{identity: {}}]'),
    /encrypting the same resource across groups is not supported/,
  ],
  [
    'two providers in one element',
    rule('[secrets]', `[{identity: {}, aescbc: {keys: [{name: a, secret: ${key}}]}}]`),
    /more than one provider specified/,
  ],
  [
    'a short key',
    rule('[secrets]', '[{aescbc: {keys: [{name: a, secret: YWJj}]}}]'),
    /secret is not of the expected length, got 3, expected one of \[16 24 32\]$/,
  ],
  [
    'a key that is not base64',
    rule('[secrets]', '[{secretbox: {keys: [{name: a, secret: "***"}]}}]'),
    /secret: Invalid value: "REDACTED": secrets must be base64 encoded$/,
  ],
  ['KMS v1', rule('[secrets]', '[{kms: {name: k, endpoint: "unix:///k"}}]'), /KMSv1 is gone/],
  [
    'a KMS endpoint that is not a socket',
    rule('[secrets]', '[{kms: {apiVersion: v2, name: k, endpoint: "tcp://k"}}]'),
    /unsupported scheme "tcp" for KMS provider, only unix is supported/,
  ],
  [
    'a zero timeout',
    rule('[secrets]', '[{kms: {apiVersion: v2, name: k, endpoint: "unix:///k", timeout: 0s}}]'),
    /timeout: Invalid value: "0s": timeout should be a positive value/,
  ],
  [
    'a negative timeout',
    rule('[secrets]', '[{kms: {apiVersion: v2, name: k, endpoint: "unix:///k", timeout: -1m}}]'),
    /timeout: Invalid value: "-1m0s": timeout should/,
  ],
  [
    'an invalid timeout',
    rule('[secrets]', '[{kms: {apiVersion: v2, name: k, endpoint: "unix:///k", timeout: 1x}}]'),
    /^time: unknown unit "x" in duration "1x"$/,
  ],
  [
    'an invalid KMS endpoint',
    rule('[secrets]', '[{kms: {apiVersion: v2, name: k, endpoint: "unix:///k\\n.sock"}}]'),
    new RegExp(
      String.raw`endpoint: Invalid value: "unix:///k\\n\.sock": invalid endpoint for km` +
        String.raw`s provider, error: parse "unix:///k\\n\.` +
        'sock": net/url: invalid control character in URL$',
    ),
  ],
]

for (const [what, yaml, message] of faults) {
  test(`${what} is rejected`, () => {
    assert.throws(
      () => readEncryptionConfiguration(yaml),
      (error: Error) => message.test(error.message) || assert.fail(error.message),
    )
  })
}
