import assert from 'node:assert/strict'
import test from 'node:test'
import { podDefaults } from '../defaults/pod-defaults.ts'
import type { PodSpec } from '../model.ts'
import { container, errorMessages, oneContainer, pod, validationErrors } from './pod-rules.fixture.ts'
import { podTemplate } from './spec.ts'

test('pod-level requests must not be below the sum of the containers', () => {
  assert.deepEqual(
    validationErrors({
      resources: { limits: { cpu: '1', 'example.com/x': '1' }, requests: { cpu: '1' } },
      containers: [container({ resources: { requests: { cpu: '2' }, limits: { cpu: '3' } } })],
    }),
    [
      'resources.limits[example.com/x]: Unsupported value: "example.com/x": supported values: "cpu", "memory"',
      'resources.requests[cpu]: Invalid value: "1": must be greater than or equal to aggregate container requests of 2',
      'resources.containers[0][cpu].limits: Invalid value: "3": must be less than or equal to pod limits of 1',
    ],
  )
})

test('missing pod-level requests default to those of the containers, or to the limits', () => {
  const whole = pod({
    resources: { limits: { cpu: '1', memory: '1Gi' } },
    containers: [container({ resources: { requests: { cpu: '200m' } } })],
  })
  podDefaults(whole)
  assert.deepEqual(whole.spec?.resources?.requests, { cpu: '200m', memory: '1Gi' })
})

test('invalid security profiles and sysctls are rejected', () => {
  assert.deepEqual(
    validationErrors({
      hostNetwork: true,
      securityContext: { sysctls: [{ name: 'net.ipv4.tcp_syncookies', value: '1' }] },
    }),
    [
      'securityContext.sysctls[0].name: Invalid value: "net.ipv4.tcp_syncookies": may not be specified when ' +
        "'hostNetwork' is true",
    ],
  )
  assert.deepEqual(validationErrors({ securityContext: { seLinuxChangePolicy: 'x' } }), [
    'securityContext.seLinuxChangePolicy: Unsupported value: "x": supported values: "MountOption", "Recursive"',
  ])
  assert.deepEqual(
    validationErrors({ securityContext: { appArmorProfile: { type: 'RuntimeDefault', localhostProfile: 'x' } } }),
    [
      'securityContext.appArmorProfile.localhostProfile: Invalid value: "x": can only be set when AppArmor type is ' +
        'Localhost',
    ],
  )
  assert.deepEqual(
    validationErrors({
      os: { name: 'windows' },
      securityContext: { supplementalGroupsPolicy: 'Merge' },
      hostUsers: true,
    }),
    [
      'hostUsers: Forbidden: cannot be set for a windows pod',
      'securityContext.supplementalGroupsPolicy: Forbidden: cannot be set for a windows pod',
    ],
  )
  assert.deepEqual(
    validationErrors({
      os: { name: 'linux' },
      containers: [container({ securityContext: { windowsOptions: { runAsUserName: 'a' } } })],
    }),
    ['containers[0].securityContext.windowsOptions: Forbidden: windows options cannot be set for a linux pod'],
  )
})

test('volumes need relative file paths, and claims that are not created for ephemeral volumes', () => {
  const made = {
    ephemeral: {
      volumeClaimTemplate: { spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1' } } } },
    },
  }
  assert.deepEqual(
    validationErrors({
      volumes: [
        {
          name: 'a',
          projected: {
            sources: [
              { clusterTrustBundle: { path: '/x' } },
              { podCertificate: { signerName: 'a.b/c', keyType: 'x', userAnnotations: { mine: '1' } } },
            ],
          },
        },
        { name: 'b', emptyDir: {}, downwardAPI: {} },
        { name: 'e', ...made },
        { name: 'p', persistentVolumeClaim: { claimName: 'p-e' } },
        { name: 't', projected: { sources: [{ serviceAccountToken: { path: 'token', expirationSeconds: 3600 } }] } },
      ],
      containers: [container({ volumeMounts: [{ name: 'e', mountPath: '/e', recursiveReadOnly: 'Enabled' }] })],
    }),
    [
      'volumes[0].projected.sources[0].clusterTrustBundle: Required value: either name or signerName must be specified',
      'volumes[0].projected.sources[0].clusterTrustBundle.path: Invalid value: "/x": must be a relative path',
      'volumes[0].projected.sources[1].podCertificate.userAnnotations: Invalid value: "mine": must be a ' +
        'domain-prefixed path (such as "acme.io/foo")',
      'volumes[0].projected.sources[1].podCertificate.keyType: Unsupported value: "x": supported values: ' +
        '"RSA3072", "RSA4096", "ECDSAP256", "ECDSAP384", "ECDSAP521", "ED25519"',
      'volumes[0].projected.sources[1].podCertificate: Required value: specify at least one of ' +
        'credentialBundlePath, keyPath, and certificateChainPath',
      'volumes[1].downwarAPI: Forbidden: may not specify more than 1 volume type',
      'volumes[3].persistentVolumeClaim.claimName: Invalid value: "p-e": must not reference a PVC that gets ' +
        'created for an ephemeral volume',
      'containers[0].volumeMounts.recursiveReadOnly: Forbidden: may only be specified when readOnly is true',
      'volumes[4].projected.sources[0].serviceAccountToken: Forbidden: must not be specified when ' +
        'serviceAccountName is not set',
    ],
  )
})

test('label keys of affinity and topology spread are valid and unique', () => {
  const term = {
    labelSelector: { matchLabels: { a: 'b' }, matchExpressions: [{ key: 'a', operator: 'In', values: ['b'] }] },
    matchLabelKeys: ['a'],
    topologyKey: 'x',
  }
  const at = 'affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0]'
  assert.deepEqual(
    validationErrors({ affinity: { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term] } } }),
    [`${at}[0]: Invalid value: "a": exists in both matchLabelKeys and labelSelector`],
  )
  assert.deepEqual(
    validationErrors({
      affinity: {
        nodeAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: {
            nodeSelectorTerms: [{ matchExpressions: [{ key: 'a', operator: 'In', values: ['-'] }] }],
          },
        },
      },
    }).length,
    1,
  )
  const spread = { maxSkew: 1, topologyKey: 'z', whenUnsatisfiable: 'DoNotSchedule' }
  assert.deepEqual(validationErrors({ topologySpreadConstraints: [spread, { ...spread, matchLabelKeys: ['x'] }] }), [
    'topologySpreadConstraints[0].{topologyKey, whenUnsatisfiable}: Duplicate value: "{z, DoNotSchedule}"',
    'topologySpreadConstraints[1].matchLabelKeys: Forbidden: must not be specified when labelSelector is not set',
  ])
  assert.deepEqual(validationErrors({ tolerations: [{ key: 'a', operator: 'Exists', value: 'b' }] }), [
    `tolerations[0].operator: Invalid value: "b": value must be empty when \`operator\` is 'Exists'`,
  ])
})

test('images of templates may have spaces around them', () => {
  assert.deepEqual(oneContainer({ image: ' x' }), [
    'image: Invalid value: " x": must not have leading or trailing whitespace',
  ])
  const { spec } = pod({ containers: [container({ image: ' x' })] })
  assert.deepEqual(
    errorMessages(podTemplate({ metadata: {}, spec } as Parameters<typeof podTemplate>[0], 'spec.template')),
    [],
  )
})

test('a user namespace excludes block devices and namespaces of the host', () => {
  const block = {
    volumes: [{ name: 'v', persistentVolumeClaim: { claimName: 'x' } }],
    containers: [container({ volumeDevices: [{ name: 'v', devicePath: '/d' }] })],
  }
  assert.deepEqual(validationErrors({ ...block, hostUsers: false, hostPID: true, hostNetwork: true }), [
    'hostNetwork: Forbidden: when `hostUsers` is false',
    'HostPID: Forbidden: when `hostUsers` is false',
    'containers[0].volumeDevices: Forbidden: when `hostUsers` is false',
  ])
  const proc = (procMount: string): object => container({ securityContext: { procMount } })
  assert.deepEqual(validationErrors({ hostUsers: false, containers: [proc('Unmasked')] }), [])
  assert.deepEqual(validationErrors({ containers: [proc('Default')] }), [])
  assert.deepEqual(validationErrors({ containers: [proc('Unmasked')] }), [
    'containers[0].securityContext.procMount: Invalid value: "Unmasked": `hostUsers` must be false to use `Unmasked`',
  ])
  assert.deepEqual(validationErrors({ containers: [proc('Hidden')] }), [
    'containers[0].securityContext.procMount: Unsupported value: "Hidden": supported values: "Default", "Unmasked"',
  ])
})

test('Windows pods have no pod-level resources, and huge page limits must cover all containers', () => {
  assert.deepEqual(validationErrors({ os: { name: 'windows' }, resources: { claims: [{ name: 'a' }] } }), [
    'resources: Forbidden: may not be set for a windows pod',
  ])
  assert.deepEqual(validationErrors({ resources: { claims: [{ name: 'a' }] } }).slice(0, 1), [
    'resources.claims: Forbidden: claims may not be set for Resources at pod-level',
  ])
  const pages = { 'hugepages-2Mi': '4Mi', cpu: '1' }
  assert.deepEqual(
    validationErrors({
      resources: { limits: { 'hugepages-2Mi': '2Mi', cpu: '2' }, requests: { 'hugepages-2Mi': '2Mi' } },
      containers: [container({ resources: { limits: pages, requests: pages } })],
    }),
    [
      'resources.requests[hugepages-2Mi]: Invalid value: "2Mi": must be greater than or equal to aggregate ' +
        'container requests of 4Mi',
      'resources.limits[hugepages-2Mi]: Invalid value: "2Mi": must be greater than or equal to aggregate ' +
        'container limits of 4Mi',
      'resources.containers[0][hugepages-2Mi].limits: Invalid value: "4Mi": must be less than or equal to pod ' +
        'limits of 2Mi',
    ],
  )
})

test('hostnameOverride is at most 64 characters and excludes other host name fields', () => {
  assert.deepEqual(validationErrors({ hostnameOverride: 'a.example.com' }), [])
  assert.deepEqual(validationErrors({ hostnameOverride: `${'a'.repeat(60)}.example` }), [
    'hostnameOverride: Too long: may not be more than 64 bytes',
  ])
  assert.deepEqual(validationErrors({ hostnameOverride: 'a', setHostnameAsFQDN: true }), [
    'hostnameOverride: Forbidden: may not be specified when setHostnameAsFQDN is true',
  ])
  assert.deepEqual(validationErrors({ hostnameOverride: 'a', hostNetwork: true }), [
    'hostnameOverride: Forbidden: may not be specified when hostNetwork is true',
  ])
})

test('an image volume needs a reference', () => {
  assert.deepEqual(validationErrors({ volumes: [{ name: 'v', image: { pullPolicy: 'Always' } }] }), [
    'volumes[0].image.reference: Required value',
  ])
  assert.deepEqual(
    errorMessages(
      podTemplate({ metadata: {}, spec: pod({ volumes: [{ name: 'v', image: {} }] }).spec as PodSpec }, 'template'),
    ),
    [],
  )
})

test('static pods cannot have resource claims', () => {
  const claims = { nodeName: 'n', resourceClaims: [{ name: 'a', resourceClaimName: 'x' }] }
  assert.deepEqual(validationErrors(claims), [])
  assert.deepEqual(validationErrors(claims, { 'kubernetes.io/config.mirror': 'x' }), [
    ': Forbidden: static pods do not support resource claims',
  ])
})
