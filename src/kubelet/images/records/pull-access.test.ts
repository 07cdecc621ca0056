import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import type { Image } from '#protobuf/cri-images_pb.js'
import type { Credential } from '../credentials/keyring.ts'
import { PullAccess } from './pull-access.ts'
import { PullRecords } from './pull-records.ts'
import { type PolicyName, verificationPolicy } from './verification-policy.ts'

function accessOf(t: TestContext, policy: PolicyName = 'NeverVerifyPreloadedImages') {
  const root = mkdtempSync(join(tmpdir(), 't8s-records-'))
  t.after(() => rmSync(root, { recursive: true }))
  const logged: string[] = []
  const log = (line: string): void => void logged.push(line)
  const start = () =>
    new PullAccess({ records: new PullRecords(root, log), policy: verificationPolicy(policy), log, now: () => now })
  const filesOf = (folder: string): string[] => {
    const path = join(root, 'image_manager', folder)
    return readdirSync(path).map((name) => join(path, name))
  }
  return { access: start(), start, pulling: () => filesOf('pulling'), pulled: () => filesOf('pulled'), logged }
}

const now = Date.parse('2026-01-01T00:00:00Z')

const credentialOf = (name: string, hash = 'h', uid = name): Credential => ({
  username: 'u',
  password: 'p',
  hash,
  secret: { name, namespace: 'default', uid },
})

const image = 'registry.test/app:1'

const mustPull = (access: PullAccess, ...credentials: Credential[]): Promise<boolean> =>
  access.mustPull(image, 'sha256:a', async () => credentials)

for (const [policy, preloaded, pulled] of [
  ['NeverVerify', false, false],
  ['NeverVerifyPreloadedImages', false, true],
  ['NeverVerifyAllowlistedImages', true, true],
  ['AlwaysVerify', true, true],
] as const)
  test(`with ${policy} a preloaded image ${preloaded ? 'needs' : 'needs no'} credentials`, async (t) => {
    const { access } = accessOf(t, policy)
    assert.equal(await mustPull(access), preloaded)
    access.begin(image)
    access.succeed(image, 'sha256:a', credentialOf('one'))
    assert.equal(await mustPull(access), pulled)
  })

test('an image on the allowlist needs no credentials', () => {
  const policy = verificationPolicy('NeverVerifyAllowlistedImages', ['registry.test/app', 'other.test/team/*'])
  assert.deepEqual(
    ['registry.test/app:1', 'registry.test/apps', 'other.test/team/a/b', 'other.test/x'].map((one) =>
      policy(one, true),
    ),
    [false, true, false, true],
  )
  assert.throws(() => verificationPolicy('NeverVerifyAllowlistedImages', ['registry.test/a:1']), {
    message: 'neither tag nor digest is accepted in an image reference: registry.test/a:1',
  })
})

test('a pulled image is for pods with its secret, or with the same login in another secret', async (t) => {
  const { access, pulled, start } = accessOf(t)
  access.begin(image)
  access.succeed(image, 'sha256:a', credentialOf('one', 'h'))
  assert.equal(await mustPull(access), true)
  assert.equal(await mustPull(access, credentialOf('two', 'other')), true)
  assert.equal(await mustPull(access, credentialOf('one', 'changed')), false)
  assert.equal(await mustPull(access, credentialOf('three', 'changed')), false)
  // Also after a restart.
  assert.equal(await mustPull(start(), credentialOf('three', 'third')), false)
  const record = JSON.parse(readFileSync(pulled()[0]!, 'utf8'))
  assert.deepEqual(record, {
    kind: 'ImagePulledRecord',
    apiVersion: 'kubelet.config.k8s.io/v1beta1',
    lastUpdatedTime: '2026-01-01T00:00:00Z',
    imageRef: 'sha256:a',
    credentialMapping: {
      'registry.test/app': {
        kubernetesSecrets: [
          { name: 'one', namespace: 'default', uid: 'one', credentialHash: 'changed' },
          { name: 'three', namespace: 'default', uid: 'three', credentialHash: 'third' },
        ],
      },
    },
  })
})

test('an image that was pulled without credentials is for all pods, under its own name only', async (t) => {
  const { access } = accessOf(t)
  access.begin(image)
  access.succeed(image, 'sha256:a', undefined)
  assert.equal(await mustPull(access), false)
  assert.equal(await access.mustPull('registry.test/other:1', 'sha256:a', async () => []), true)
})

test('an image is not preloaded while it is pulled, or after a restart during its pull', async (t) => {
  const { access, start, pulling, pulled } = accessOf(t)
  access.begin(image)
  access.begin(image)
  assert.equal(await mustPull(access), true)
  assert.equal(await mustPull(start()), true)
  access.fail(image)
  assert.equal(pulling().length, 1)
  const restarted = start()
  restarted.resume([{ id: 'sha256:a', repoTags: [image], repoDigests: [] } as unknown as Image])
  assert.equal(pulling().length, 0)
  assert.equal(pulled().length, 1)
  assert.equal(await mustPull(restarted), true)
})

test('a record that cannot be read makes a pull necessary, which replaces it', async (t) => {
  const { access, pulled, logged } = accessOf(t)
  access.begin(image)
  access.succeed(image, 'sha256:a', undefined)
  writeFileSync(pulled()[0]!, '{')
  assert.equal(await mustPull(access), true)
  assert.equal(logged.length, 1)
  access.begin(image)
  access.succeed(image, 'sha256:a', undefined)
  assert.equal(await mustPull(access), false)
})

test('records of images that no longer exist are deleted, unless they are newer', (t) => {
  const { access, pulled } = accessOf(t)
  for (const id of ['sha256:a', 'sha256:b']) {
    access.begin(image)
    access.succeed(image, id, undefined)
  }
  access.prune(new Set(['sha256:a']), now)
  assert.equal(pulled().length, 2)
  access.prune(new Set(['sha256:a']), now + 1)
  assert.equal(pulled().length, 1)
})
