import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { PodSpec } from '../../../../api/core/pod/model.ts'
import { podOf } from '../pod.fixture.ts'
import { environmentFault, namesSecrets, secretFault } from './secret-references.ts'

const allowed = { account: 'robot', secrets: ['mine'], pullSecrets: ['pull'] }
const spec = (more: object): PodSpec => podOf(more).spec
const variable = (name: string) => ({ name: 'V', valueFrom: { secretKeyRef: { name, key: 'k' } } })
const because = 'is not allowed because service account robot does not reference that'

const cases: readonly (readonly [string, object, object, string])[] = [
  [
    'a volume',
    { volumes: [{ name: 'v', secret: { secretName: 'other' } }] },
    { volumes: [{ name: 'v', secret: { secretName: 'mine' } }] },
    `volume with secret.secretName="other" ${because} secret`,
  ],
  [
    'a variable',
    { containers: [{ name: 'c', env: [variable('mine'), variable('other')] }] },
    { containers: [{ name: 'c', env: [variable('mine')] }] },
    `container c with envVar V referencing secret.secretName="other" ${because} secret`,
  ],
  [
    'variables of an init container',
    { initContainers: [{ name: 'i', envFrom: [{ secretRef: { name: 'other' } }] }] },
    { initContainers: [{ name: 'i', envFrom: [{ configMapRef: { name: 'other' } }] }] },
    `init container i with envFrom referencing secret.secretName="other" ${because} secret`,
  ],
  [
    'a pull secret',
    { imagePullSecrets: [{ name: 'pull' }, { name: 'other' }] },
    { imagePullSecrets: [{ name: 'pull' }] },
    `imagePullSecrets[1].name="other" ${because} imagePullSecret`,
  ],
]
for (const [what, bad, good, says] of cases) {
  test(`${what} may name only secrets of the account`, () => {
    assert.equal(secretFault(spec(bad), allowed), says)
    assert.equal(secretFault(spec(good), allowed), undefined)
  })
}

test('ephemeral containers may name only secrets of the account', () => {
  const says = `ephemeral container e with envVar V referencing secret.secretName="other" ${because} secret`
  assert.equal(environmentFault('ephemeral container', [{ name: 'e', env: [variable('other')] }], allowed), says)
})

test('namesSecrets finds a secret in every field', () => {
  const naming: readonly object[] = [
    { imagePullSecrets: [{ name: 's' }] },
    { containers: [{ name: 'c', env: [variable('s')] }] },
    { ephemeralContainers: [{ name: 'e', envFrom: [{ secretRef: { name: 's' } }] }] },
    ...[
      { secret: { secretName: 's' } },
      { projected: { sources: [{ secret: { name: 's' } }] } },
      { azureFile: { secretName: 's', shareName: 'x' } },
      { csi: { driver: 'd', nodePublishSecretRef: { name: 's' } } },
      { cephfs: { monitors: [], secretRef: { name: 's' } } },
    ].map((source) => ({ volumes: [{ name: 'v', ...source }] })),
  ]
  for (const more of naming) assert.ok(namesSecrets(spec(more)), JSON.stringify(more))
  assert.ok(
    !namesSecrets(
      spec({
        volumes: [
          { name: 'v', emptyDir: {} },
          { name: 'w', projected: { sources: [{ serviceAccountToken: { path: 'p' } }] } },
        ],
      }),
    ),
  )
})
