import assert from 'node:assert/strict'
import { test } from 'node:test'
import { apiReference } from './api-references.ts'
import type { Pod } from './object-names.ts'

const volume = (source: object) => ({ volumes: [{ name: 'v', ...source }] })
const projected = (...sources: readonly object[]) => volume({ projected: { sources } })

for (const [spec, expected] of [
  [{}, undefined],
  [volume({ emptyDir: {} }), undefined],
  [volume({ hostPath: { path: '/' } }), undefined],
  [projected({ downwardAPI: {} }), undefined],
  [{ serviceAccountName: 'sa' }, 'a service account'],
  [{ imagePullSecrets: [{ name: 's' }] }, 'secrets'],
  [{ containers: [{ name: 'c', envFrom: [{ configMapRef: { name: 'c' } }] }] }, 'configmaps'],
  [{ resourceClaims: [{ name: 'r' }], ...volume({ persistentVolumeClaim: { claimName: 'c' } }) }, 'resourceclaims'],
  [volume({ secret: {} }), 'secrets (via secret volumes)'],
  [volume({ configMap: {} }), 'configmaps (via configmap volumes)'],
  [volume({ csi: { driver: 'd' } }), 'csidrivers (via CSI volumes)'],
  [volume({ glusterfs: { endpoints: 'e', path: 'p' } }), 'endpoints (via glusterFS volumes)'],
  [volume({ persistentVolumeClaim: { claimName: 'c' } }), 'persistentvolumeclaims'],
  [volume({ ephemeral: {} }), 'persistentvolumeclaims (via ephemeral volumes)'],
  [projected({ downwardAPI: {} }, { serviceAccountToken: { path: 't' } }), 'serviceaccounts (via projected volumes)'],
  [projected({ clusterTrustBundle: { path: 't' } }), 'clustertrustbundles'],
  [projected({ podCertificate: { keyType: 'ED25519' } }), 'podcertificates'],
] as const)
  test(`the API object that a pod refers to: ${JSON.stringify(spec)}`, () => {
    assert.equal(apiReference({ metadata: {}, spec } as unknown as Pod), expected)
  })
