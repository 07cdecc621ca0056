import assert from 'node:assert/strict'
import test from 'node:test'
import type { FieldError } from '../../../../machinery/validation/field-error.ts'
import { podDefaults, podSpecDefaults } from '../defaults/pod-defaults.ts'
import { pods } from '../index.ts'
import type { Pod, PodSpec } from '../model.ts'
import { podAnnotationsUpdate, validateDeletionCostUpdate } from './annotations.ts'
import { podTemplate } from './spec.ts'
import { podStatusUpdate } from './status.ts'

const errorMessages = (errors: readonly FieldError[]): string[] =>
  errors.map(({ field, message }) => `${field}: ${message}`)

function pod(spec: object, annotations?: Record<string, string>): Pod {
  const whole = { containers: [c()], ...structuredClone(spec) } as unknown as PodSpec
  podSpecDefaults(whole)
  return { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p', namespace: 'n', annotations }, spec: whole }
}
const c = (over: object = {}): object => ({ name: 'c', image: 'app:1', ...over })
/** Returns the errors of a new pod's spec. */
function validationErrors(spec: object, annotations?: Record<string, string>): string[] {
  const { spec: rules, create } = pods.validate ?? {}
  const one = pod(spec, annotations)
  return errorMessages([...(rules?.(one) ?? []), ...(create?.(one) ?? [])]).map((line) => line.replace(/^spec\./, ''))
}
const oneContainer = (over: object): string[] =>
  validationErrors({ containers: [c(over)] }).map((line) => line.replace(/^containers\[0\]\./, ''))

test('a container may use only claims of its pod', () => {
  assert.deepEqual(
    validationErrors({
      resourceClaims: [{ name: 'a' }, { name: 'a', resourceClaimName: 'x', resourceClaimTemplateName: 'y' }],
    }),
    [
      'resourceClaims[0]: Invalid value: {"Name":"a","ResourceClaimName":null,"ResourceClaimTemplateName":null}: ' +
        'must specify one of: `resourceClaimName`, `resourceClaimTemplateName`',
      'resourceClaims[1].name: Duplicate value: "a"',
      'resourceClaims[1]: Invalid value: {"Name":"a","ResourceClaimName":"x","ResourceClaimTemplateName":"y"}: ' +
        'at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified',
    ],
  )
  assert.deepEqual(oneContainer({ resources: { claims: [{ name: 'q' }] } }), [
    'resources.claims[0]: Not found: "q": must be one of the names in pod.spec.resourceClaims which is empty',
  ])
  const using = (...claims: object[]): string[] =>
    validationErrors({
      resourceClaims: [{ name: 'a', resourceClaimName: 'x' }],
      containers: [c({ resources: { claims } })],
    })
  assert.deepEqual(using({ name: 'a', request: 'r' }, { name: 'a', request: 's' }), [])
  assert.deepEqual(using({ name: 'a', request: 'r' }, { name: 'a' }), [
    'containers[0].resources.claims[1]: Duplicate value: "a"',
  ])
  assert.deepEqual(using({ name: 'a', request: 'r' }, { name: 'a', request: 'r' }), [
    'containers[0].resources.claims[1]: Duplicate value: "a/r"',
  ])
})

test('restart policies and restart rules are validated', () => {
  assert.deepEqual(oneContainer({ restartPolicy: 'Foo', restartPolicyRules: [{ action: 'Foo' }] }), [
    'restartPolicy: Unsupported value: "Foo": supported values: "Always", "Never", "OnFailure"',
    'restartPolicyRules[0].action: Unsupported value: "Foo": supported values: "Restart", "RestartAllContainers"',
    'restartPolicyRules[0].exitCodes: Required value: must be specified',
  ])
  assert.deepEqual(
    oneContainer({ restartPolicyRules: [{ action: 'Restart', exitCodes: { operator: 'In', values: [1] } }] }),
    ['restartPolicy: Required value: must specify restartPolicy when restart rules are used'],
  )
  assert.deepEqual(oneContainer({ resizePolicy: [{ resourceName: 'disk', restartPolicy: 'NotRequired' }] }), [
    'resizePolicy: Unsupported value: "disk": supported values: "cpu", "memory"',
  ])
  assert.deepEqual(
    validationErrors({
      restartPolicy: 'Never',
      containers: [c({ resizePolicy: [{ resourceName: 'cpu', restartPolicy: 'RestartContainer' }] })],
    }),
    [
      'containers[0].resizePolicy: Invalid value: "RestartContainer": must be \'NotRequired\' when pod ' +
        "`restartPolicy` is 'Never'",
    ],
  )
})

test('environment variables refer to supported fields, resources and divisors', () => {
  const from = (valueFrom: object): string[] =>
    oneContainer({ env: [{ name: 'A', valueFrom }] }).map((line) => line.replace('env[0].valueFrom.', ''))
  assert.deepEqual(from({ resourceFieldRef: { resource: 'limits.cpu', divisor: '1' } }), [])
  assert.deepEqual(from({ resourceFieldRef: { resource: 'limits.cpu', divisor: '3' } }), [
    'resourceFieldRef.divisor: Invalid value: "limits.cpu": only divisor\'s values 1m and 1 are supported with ' +
      'the cpu resource',
  ])
  assert.match(
    from({ resourceFieldRef: { resource: 'limits.memory', divisor: '2Mi' } })[0] ?? '',
    /1Ei are supported with the memory resource$/,
  )
  assert.deepEqual(from({ fieldRef: { fieldPath: "spec.nodeName['a']" } }), [
    'fieldRef.fieldPath: Invalid value: "spec.nodeName[\'a\']": error converting fieldPath: field label does not ' +
      "support subscript: spec.nodeName['a']",
  ])
  assert.deepEqual(from({ fieldRef: { fieldPath: 'spec.host' } }), [])
  assert.deepEqual(from({ fileKeyRef: { volumeName: '', path: '../x', key: '' } }), [
    'fileKeyRef.key: Required value',
    'fileKeyRef.volumeName: Required value',
    `fileKeyRef.path: Invalid value: "../x": must not contain '..'`,
    'fileKeyRef.volumeName: Not found: ""',
  ])
  const key = { name: 'A', valueFrom: { fileKeyRef: { volumeName: 'v', path: '/x', key: 'K' } } }
  const inVolume = (source: object): string[] =>
    validationErrors({ volumes: [{ name: 'v', ...source }], containers: [c({ env: [key] })] })
  assert.deepEqual(inVolume({ emptyDir: {} }), [])
  assert.deepEqual(inVolume({ configMap: { name: 'm' } }), [
    'containers[0].env[0].valueFrom.fileKeyRef.volumeName: Invalid value: "v": referenced volume must be of type ' +
      'emptyDir',
  ])
  assert.deepEqual(oneContainer({ envFrom: [{ secretRef: { name: 'a-' } }] }), [])
})

test('pod-level requests must not be below the sum of the containers', () => {
  assert.deepEqual(
    validationErrors({
      resources: { limits: { cpu: '1', 'example.com/x': '1' }, requests: { cpu: '1' } },
      containers: [c({ resources: { requests: { cpu: '2' }, limits: { cpu: '3' } } })],
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
    containers: [c({ resources: { requests: { cpu: '200m' } } })],
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
      containers: [c({ securityContext: { windowsOptions: { runAsUserName: 'a' } } })],
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
      containers: [c({ volumeMounts: [{ name: 'e', mountPath: '/e', recursiveReadOnly: 'Enabled' }] })],
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

test('annotations with a meaning are validated', () => {
  const appArmor = 'container.apparmor.security.beta.kubernetes.io/'
  assert.deepEqual(
    validationErrors(
      {},
      {
        'controller.kubernetes.io/pod-deletion-cost': '+1',
        [`${appArmor}x`]: 'foo',
        'seccomp.security.alpha.kubernetes.io/pod': 'x',
      },
    ),
    [
      'metadata.annotations[controller.kubernetes.io/pod-deletion-cost]: Invalid value: "+1": must be a 32bit integer',
      'metadata.annotations.seccomp.security.alpha.kubernetes.io/pod: Invalid value: "x": must be a valid ' +
        'seccomp profile',
      `metadata.annotations[${appArmor}x]: Invalid value: "x": container not found`,
      `metadata.annotations[${appArmor}x]: Invalid value: "foo": invalid AppArmor profile name: "foo"`,
    ],
  )
  assert.deepEqual(
    validationErrors(
      { securityContext: { appArmorProfile: { type: 'Unconfined' } } },
      { [`${appArmor}c`]: 'runtime/default' },
    ),
    ['containers[0].securityContext.appArmorProfile.type: Forbidden: apparmor type in annotation and field must match'],
  )
  assert.deepEqual(errorMessages(podAnnotationsUpdate({ [`${appArmor}c`]: 'b' }, { [`${appArmor}c`]: 'a' }, 'at')), [
    `at[${appArmor}c]: Forbidden: may not remove or update AppArmor annotations`,
  ])
  assert.deepEqual(errorMessages(podAnnotationsUpdate({ 'kubernetes.io/config.mirror': 'b' }, {}, 'at')), [
    'at[kubernetes.io/config.mirror]: Forbidden: may not add mirror pod annotation',
  ])
})

test('an update must not make pod-deletion-cost invalid', () => {
  const cost = (value: string) => ({ 'controller.kubernetes.io/pod-deletion-cost': value })
  const wrong = ['at[controller.kubernetes.io/pod-deletion-cost]: Invalid value: "x": must be a 32bit integer']
  assert.deepEqual(errorMessages(validateDeletionCostUpdate(cost('x'), cost('1'), 'at')), wrong)
  assert.deepEqual(errorMessages(validateDeletionCostUpdate(cost('x'), {}, 'at')), wrong)
  assert.deepEqual(errorMessages(validateDeletionCostUpdate(cost('2'), cost('1'), 'at')), [])
  assert.deepEqual(errorMessages(validateDeletionCostUpdate(cost('x'), cost('y'), 'at')), [])
})

test('images of templates may have spaces around them', () => {
  assert.deepEqual(oneContainer({ image: ' x' }), [
    'image: Invalid value: " x": must not have leading or trailing whitespace',
  ])
  const { spec } = pod({ containers: [c({ image: ' x' })] })
  assert.deepEqual(
    errorMessages(podTemplate({ metadata: {}, spec } as Parameters<typeof podTemplate>[0], 'spec.template')),
    [],
  )
})

test('a status that contradicts the pod is rejected', () => {
  const ended = { name: 'c', state: { terminated: { exitCode: 0 } } }
  const running = { name: 'c', state: { running: {} } }
  const update = (spec: object, status: object, old: object): string[] =>
    errorMessages(
      podStatusUpdate({ ...pod(spec), status } as unknown as Pod, { ...pod(spec), status: old } as unknown as Pod),
    )
  assert.deepEqual(
    update({ restartPolicy: 'Never' }, { containerStatuses: [running] }, { containerStatuses: [ended] }),
    ['status.containerStatuses[0].state: Forbidden: may not be transitioned to non-terminated state'],
  )
  assert.deepEqual(update({}, { containerStatuses: [running] }, { containerStatuses: [ended] }), [])
  const once = { containers: [c({ restartPolicy: 'Never' })] }
  assert.equal(update(once, { containerStatuses: [running] }, { containerStatuses: [ended] }).length, 1)
  const together = {
    containers: [
      c({ restartPolicy: 'Never' }),
      c({ name: 'd', restartPolicyRules: [{ action: 'RestartAllContainers' }] }),
    ],
  }
  assert.deepEqual(update(together, { containerStatuses: [running] }, { containerStatuses: [ended] }), [])
  assert.deepEqual(
    update({ nodeName: 'n' }, { nominatedNodeName: 'm', observedGeneration: -1, conditions: [{ type: '-' }] }, {}).map(
      (line) => line.slice(0, 80),
    ),
    [
      'status.conditions[0].Type: Invalid value: "-": name part must consist of alphanu',
      'status.nominatedNodeName: Forbidden: may not be set on pods that are already bou',
      'status.observedGeneration: Invalid value: -1: must be a non-negative integer',
    ],
  )
  assert.deepEqual(
    update(
      {},
      {
        extendedResourceClaimStatus: {
          requestMappings: [{ containerName: 'c', resourceName: 'r', requestName: 'q' }],
          resourceClaimName: '',
        },
      },
      {},
    ),
    [
      'status.extendedResourceClaimStatus.requestMappings[0].resourceName: Invalid value: "r": must match the ' +
        'extended resource name of an entry in spec.initContainers.resources.requests or ' +
        'spec.containers.resources.requests',
      'status.extendedResourceClaimStatus.resourceClaimName: Required value',
    ],
  )
  const failed = { name: 'c', state: { terminated: { exitCode: 1 } } }
  assert.deepEqual(
    update({ restartPolicy: 'OnFailure' }, { containerStatuses: [running] }, { containerStatuses: [failed] }),
    [],
  )
  assert.deepEqual(
    update({}, { podIPs: [{ ip: '1.2.3.4' }, { ip: '1.2.3.5' }], hostIP: '1.1.1.1', hostIPs: [{ ip: 'x' }] }, {}),
    [
      'status.podIPs: Invalid value: [{"ip":"1.2.3.4"},{"ip":"1.2.3.5"}]: may specify no more than one IP for ' +
        'each IP family',
      'status.hostIPs[0].ip: Invalid value: "x": must be equal to `hostIP`',
      'status.hostIPs[0]: Invalid value: "x": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)',
    ],
  )
  assert.deepEqual(update({}, { resourceClaimStatuses: [{ name: 'q' }] }, {}), [
    'status.resourceClaimStatuses[0].name: Invalid value: "q": must match the name of an entry in ' +
      '`spec.resourceClaims`',
  ])
})

test('a user namespace excludes block devices and namespaces of the host', () => {
  const block = {
    volumes: [{ name: 'v', persistentVolumeClaim: { claimName: 'x' } }],
    containers: [c({ volumeDevices: [{ name: 'v', devicePath: '/d' }] })],
  }
  assert.deepEqual(validationErrors({ ...block, hostUsers: false, hostPID: true, hostNetwork: true }), [
    'hostNetwork: Forbidden: when `hostUsers` is false',
    'HostPID: Forbidden: when `hostUsers` is false',
    'containers[0].volumeDevices: Forbidden: when `hostUsers` is false',
  ])
  const proc = (procMount: string): object => c({ securityContext: { procMount } })
  assert.deepEqual(validationErrors({ hostUsers: false, containers: [proc('Unmasked')] }), [])
  assert.deepEqual(validationErrors({ containers: [proc('Default')] }), [])
  assert.deepEqual(validationErrors({ containers: [proc('Unmasked')] }), [
    'containers[0].securityContext.procMount: Invalid value: "Unmasked": `hostUsers` must be false to use `Unmasked`',
  ])
  assert.deepEqual(validationErrors({ containers: [proc('Hidden')] }), [
    'containers[0].securityContext.procMount: Unsupported value: "Hidden": supported values: "Default", "Unmasked"',
  ])
})

test('an init container cannot have the resize policy RestartContainer', () => {
  const resizePolicy = [{ resourceName: 'cpu', restartPolicy: 'RestartContainer' }]
  assert.deepEqual(validationErrors({ initContainers: [c({ name: 'i', resizePolicy })] }), [
    'initContainers[0].resizePolicy[0].restartPolicy: Invalid value: "RestartContainer": must not be set to ' +
      "'RestartContainer' for non-sidecar initContainers",
  ])
  assert.deepEqual(validationErrors({ initContainers: [c({ name: 'i', restartPolicy: 'Always', resizePolicy })] }), [])
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
      containers: [c({ resources: { limits: pages, requests: pages } })],
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

test('stopSignal must be a signal of the operating system', () => {
  const signal = (stopSignal: string, os?: string): string[] =>
    validationErrors({ os: os && { name: os }, containers: [c({ lifecycle: { stopSignal } })] }).map((line) =>
      line.replace('containers[0].lifecycle.', ''),
    )
  assert.deepEqual(signal('SIGUSR1', 'linux'), [])
  assert.deepEqual(signal('SIGRTMIN+15', 'linux'), [])
  assert.deepEqual(signal('SIGTERM', 'windows'), [])
  assert.deepEqual(signal('SIGUSR1', 'windows'), [
    'stopSignal: Unsupported value: "SIGUSR1": supported values: "SIGKILL", "SIGTERM"',
  ])
  assert.match(
    signal('SIGNAL', 'linux')[0] ?? '',
    /^stopSignal: Unsupported value: "SIGNAL": supported values: "SIGABRT", /,
  )
  assert.deepEqual(signal('SIGTERM'), [
    'stopSignal: Forbidden: may not be set for containers with empty `spec.os.name`',
  ])
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

test('container statuses must match the containers of the pod', () => {
  const containers = [
    c({ resources: { requests: { 'a.example/b': '1' }, claims: [{ name: 'k' }, { name: 'k', request: 'r' }] } }),
  ]
  const statusErrors = (over: object, spec: object = {}, field = 'containerStatuses'): string[] => {
    const one = pod({ containers, ...spec })
    const status = { [field]: [{ name: 'c', ...over }] } as unknown as Pod['status']
    return errorMessages(podStatusUpdate({ ...one, status }, one)).map((line) =>
      line.replace(`status.${field}[0].`, ''),
    )
  }
  const linux = { uid: 1, gid: 1, supplementalGroups: [1] }
  assert.deepEqual(statusErrors({ user: { linux } }), [])
  assert.deepEqual(statusErrors({ user: { linux: { ...linux, uid: -1, supplementalGroups: [2 ** 31] } } }), [
    'user.linux.uid: Invalid value: -1: must be between 0 and 2147483647, inclusive',
    'user.linux.supplementalGroups[0]: Invalid value: 2147483648: must be between 0 and 2147483647, inclusive',
  ])
  assert.deepEqual(statusErrors({ user: { linux } }, { os: { name: 'windows' } }), [
    'user.linux: Forbidden: cannot be set for a windows pod',
  ])
  const allocatedResourcesStatus = (name: string, ...resources: object[]): object => ({
    allocatedResourcesStatus: [{ name, resources }],
  })
  for (const name of ['a.example/b', 'claim:k', 'claim:k/r'])
    assert.deepEqual(statusErrors(allocatedResourcesStatus(name)), [])
  assert.deepEqual(statusErrors(allocatedResourcesStatus('cpu')), [
    `allocatedResourcesStatus[0].name: Invalid value: "cpu": must match one of the container's resource requests`,
  ])
  assert.deepEqual(statusErrors(allocatedResourcesStatus('claim:q')), [
    'allocatedResourcesStatus[0].name: Invalid value: "claim:q": must match one of the container\'s resource ' +
      "claims in a format 'claim:<claimName>/<request>' or 'claim:<claimName>' if request is empty",
  ])
  const [ill, well] = [
    { resourceID: 'x', health: 'Ill' },
    { resourceID: 'x', health: 'Healthy' },
  ]
  assert.deepEqual(statusErrors(allocatedResourcesStatus('a.example/b', ill, well)), [
    'allocatedResourcesStatus[0].resources[0].health: Unsupported value: "Ill": supported values: "Healthy", ' +
      '"Unhealthy", "Unknown"',
    'allocatedResourcesStatus[0].resources[1].resourceID: Duplicate value: "x"',
  ])
  assert.deepEqual(statusErrors(allocatedResourcesStatus('cpu'), {}, 'ephemeralContainerStatuses'), [
    'allocatedResourcesStatus: Forbidden: must not be specified in container status',
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
