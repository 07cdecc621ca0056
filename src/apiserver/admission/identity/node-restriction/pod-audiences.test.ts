import assert from 'node:assert/strict'
import { test } from 'node:test'
import { alwaysDeny } from '../../../authorization/fixed-authorizers.ts'
import { pluginFixture, rejectionOf } from '../../plugin.fixture.ts'
import { nodeRestriction } from './index.ts'

const driver = 'com.example.csi.mydriver'
const mynode = { name: 'system:node:mynode', groups: ['system:nodes'] }

const fixture = pluginFixture()
const plugin = nodeRestriction({ ...fixture.sources, authorizer: alwaysDeny })
const pods = fixture.sources.find('v1/pods')

const claim = (name: string, volumeName: string) => ({
  metadata: { name, namespace: 'ns' },
  spec: { volumeName, accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1' } } },
})
const volume = (name: string, source: object) => ({
  metadata: { name },
  spec: { capacity: { storage: '1' }, accessModes: ['ReadWriteOnce'], ...source },
})

test('a node may request a token only for an audience that the pod’s volumes use', async (t) => {
  const { store } = fixture
  for (const name of [driver, 'file.csi.azure.com']) {
    await store('storage.k8s.io/v1/csidrivers', { metadata: { name }, spec: { tokenRequests: [{ audience: 'foo' }] } })
  }
  await store('v1/persistentvolumes', volume('pvname', { csi: { driver, volumeHandle: 'h' } }))
  await store('v1/persistentvolumes', volume('azure', { azureFile: { secretName: 's', shareName: 'share' } }))
  for (const [name, volumeName] of [
    ['pvclaim', 'pvname'],
    ['azureclaim', 'azure'],
    ['lost', 'gone'],
  ] as const) {
    await store('v1/persistentvolumeclaims', claim(name, volumeName))
  }

  const token = (audience: string | undefined) => ({
    projected: { sources: [{ serviceAccountToken: { path: 'token', audience } }] },
  })
  const csi = { csi: { driver } }
  const ofClaim = (claimName: string) => ({ persistentVolumeClaim: { claimName } })
  const ephemeral = { ephemeral: { volumeClaimTemplate: { spec: claim('', 'pvname').spec } } }
  const missing = (audience: string) =>
    `audience "${audience}" not found in pod spec volume, system:node:mynode is not authorized to request tokens ` +
    'for this audience'
  const unsure = (what: string) => `error validating audience "foo": ${what} not found`

  const cases: readonly (readonly [string, readonly object[], readonly string[] | undefined, string | undefined])[] = [
    ['a projected volume', [token('foo')], ['foo'], undefined],
    ['a projected volume for this server', [token(undefined)], [''], undefined],
    ['a projected volume for this server, a request without audiences', [token(undefined)], undefined, undefined],
    ['no volume, a request without audiences', [], undefined, missing('')],
    ['no volume for this server', [token('foo')], [''], missing('')],
    [
      'a missing claim, a request without audiences',
      [ofClaim('gone')],
      undefined,
      'error validating audience "": persistentvolumeclaim "gone" not found',
    ],
    [
      'a missing claim, then a projected volume for this server',
      [ofClaim('gone'), token(undefined)],
      undefined,
      undefined,
    ],
    ['several audiences', [token('foo')], ['foo', 'bar'], 'node may only request 0 or 1 audiences'],
    ['another audience', [token('bar')], ['foo'], missing('foo')],
    ['no volume', [], ['foo'], missing('foo')],
    ['a driver', [csi], ['foo'], undefined],
    ['a driver with another audience', [csi], ['bar'], missing('bar')],
    ['a missing driver', [{ csi: { driver: 'gone' } }], ['foo'], unsure('csidriver.storage.k8s.io "gone"')],
    ['the driver of a claim', [ofClaim('pvclaim')], ['foo'], undefined],
    ['the driver of a claim, with another audience', [ofClaim('pvclaim')], ['bar'], missing('bar')],
    ['a missing claim', [ofClaim('gone')], ['foo'], unsure('persistentvolumeclaim "gone"')],
    ['a missing volume', [ofClaim('lost')], ['foo'], unsure('persistentvolume "gone"')],
    ['an ephemeral volume', [ephemeral], ['foo'], undefined],
    ['an ephemeral volume whose driver has another audience', [ephemeral], ['bar'], missing('bar')],
    ['a driver, then a missing claim', [csi, ofClaim('gone')], ['foo'], undefined],
    ['missing claims, then a driver', [ofClaim('gone'), ofClaim('lost'), csi], ['foo'], undefined],
    [
      'missing claims and volumes, each reported once',
      [ofClaim('gone'), ofClaim('lost'), ofClaim('gone')],
      ['foo'],
      `${unsure('[persistentvolumeclaim "gone" not found, persistentvolume "gone"')}]`,
    ],
    ['a migrated volume of a claim', [ofClaim('azureclaim')], ['foo'], undefined],
    ['a migrated volume of the pod', [{ azureFile: { secretName: 's', shareName: 'share' } }], ['foo'], undefined],
  ]
  for (const [i, [what, volumes, audiences, why]] of cases.entries()) {
    await t.test(what, async () => {
      const name = `pod${i}`
      await store('v1/persistentvolumeclaims', claim(`${name}-v0`, 'pvname'))
      await store('v1/pods', {
        metadata: { name, namespace: 'ns' },
        spec: {
          nodeName: 'mynode',
          serviceAccountName: 'mysa',
          containers: [{ name: 'c', image: 'i' }],
          volumes: volumes.map((one, at) => ({ name: `v${at}`, ...one })),
        },
      })
      const { uid } = (await fixture.sources.registry.get(pods, pods.key('ns', name)))!.parse().metadata
      const request = {
        metadata: {},
        spec: { audiences, boundObjectRef: { apiVersion: 'v1', kind: 'Pod', name, uid } },
      }
      const account = { metadata: { name: 'mysa', namespace: 'ns' } }
      const more = {
        subresource: 'token',
        user: mynode,
        object: { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', ...request },
      }
      assert.equal(
        await rejectionOf(plugin, fixture.write('v1/serviceaccounts', account, more)),
        why && `serviceaccounts "mysa" is forbidden: ${why}`,
      )
    })
  }
})
