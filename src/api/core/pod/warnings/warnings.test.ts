import assert from 'node:assert/strict'
import test from 'node:test'
import type { Pod, PodSpec, PodTemplate } from '../model.ts'
import { podWarnings, templateWarnings } from './index.ts'

const c = (over: object = {}): object => ({ name: 'c', image: 'app:1', ...over })
const pod = (spec: object, metadata: object = {}): Pod =>
  ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'p', ...metadata },
    spec: { containers: [c()], ...spec },
  }) as unknown as Pod
const annotated = (...keys: string[]): object => ({ annotations: Object.fromEntries(keys.map((key) => [key, 'x'])) })
const port = (over: object): object => ({ containerPort: 80, protocol: 'TCP', ...over })
const volume = (source: object): object => ({ volumes: [{ name: 'v', ...source }] })
const term = { matchExpressions: [{ key: 'beta.kubernetes.io/arch', operator: 'In', values: ['amd64'] }] }
const far = { topologyKey: 'kubernetes.io/hostname' }
const projected = (...sources: object[]): object => volume({ projected: { sources } })

const cases: readonly (readonly [Pod, ...string[]])[] = [
  [pod({})],
  [
    pod({ nodeSelector: { 'beta.kubernetes.io/os': 'linux', constructor: 'x' } }),
    'spec.nodeSelector[beta.kubernetes.io/os]: deprecated since v1.14; use "kubernetes.io/os" instead',
  ],
  [
    pod({
      affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [term] } } },
    }),
    'spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0]' +
      '.matchExpressions[0].key: ' +
      'beta.kubernetes.io/arch is deprecated since v1.14; use "kubernetes.io/arch" instead',
  ],
  [
    pod({
      affinity: {
        nodeAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 1, preference: term }] },
      },
    }),
    'spec.affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution[0]' +
      '.preference.matchExpressions[0].key: ' +
      'beta.kubernetes.io/arch is deprecated since v1.14; use "kubernetes.io/arch" instead',
  ],
  [
    pod({ topologySpreadConstraints: [{ topologyKey: 'node-role.kubernetes.io/master' }] }),
    'spec.topologySpreadConstraints[0].topologyKey: node-role.kubernetes.io/master is use ' +
      '"node-role.kubernetes.io/control-plane" instead',
    'spec.topologySpreadConstraints[0].labelSelector: a null labelSelector results in matching no pod',
  ],
  [
    pod({
      affinity: {
        podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [far] },
        podAntiAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 1, podAffinityTerm: far }] },
      },
    }),
    'spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].labelSelector: a null ' +
      'labelSelector results in matching no pod',
    'spec.affinity.podAntiAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].podAffinityTerm.labelSelector: ' +
      'a null labelSelector results in matching no pod',
  ],
  [
    pod({}, annotated('scheduler.alpha.kubernetes.io/critical-pod')),
    'metadata.annotations[scheduler.alpha.kubernetes.io/critical-pod]: non-functional in v1.16+; use the ' +
      '"priorityClassName" field instead',
  ],
  [
    pod({}, annotated('seccomp.security.alpha.kubernetes.io/pod', 'container.seccomp.security.alpha.kubernetes.io/c')),
    'metadata.annotations[seccomp.security.alpha.kubernetes.io/pod]: non-functional in v1.27+; use the ' +
      '"seccompProfile" field instead',
    'metadata.annotations[container.seccomp.security.alpha.kubernetes.io/c]: non-functional in v1.27+; use the ' +
      '"seccompProfile" field instead',
  ],
  [pod({}, annotated('container.apparmor.security.beta.kubernetes.io/c'))],
  [
    pod(volume({ gitRepo: { repository: 'r' } })),
    'spec.volumes[0].gitRepo: deprecated in v1.11, and disabled by default in v1.33+',
  ],
  [pod(volume({ storageos: {} })), 'spec.volumes[0].storageOS: deprecated in v1.22, non-functional in v1.25+'],
  [pod(volume({ rbd: {} })), 'spec.volumes[0].rbd: deprecated in v1.28, non-functional in v1.31+'],
  [
    pod(volume({ ephemeral: { volumeClaimTemplate: { spec: { resources: { requests: { storage: '500m' } } } } } })),
    'spec.volumes[0].ephemeral.volumeClaimTemplate.spec.resources.requests[storage]: fractional byte value ' +
      '"500m" is invalid, must be an integer',
  ],
  [
    pod(volume({ configMap: { name: 'm', items: [{ path: 'a' }, { path: 'a/b' }, { path: 'c' }] } })),
    'volume "v" (ConfigMap "m"): overlapping paths: "a/b" with "a"',
  ],
  [
    pod(
      projected({ serviceAccountToken: { path: 'token' } }, { secret: { name: 's', items: [{ path: 'token' }] } }, {}),
    ),
    'volume "v" (Projected Secret "s"): overlapping paths: "token" with "token"',
    'volume "v" (Projected) has no sources provided',
  ],
  [pod({ hostAliases: [{ ip: '1.2.3.4' }, { ip: '1.2.3.4' }] }), 'spec.hostAliases[1].ip: duplicate ip "1.2.3.4"'],
  [
    pod({ hostAliases: [{ ip: 'FD00::1' }], dnsConfig: { nameservers: ['fd00:0::2'] } }),
    'spec.dnsConfig.nameservers[0]: IPv6 address "fd00:0::2" should be in RFC 5952 canonical format ("fd00::2")',
    'spec.hostAliases[0].ip: IPv6 address "FD00::1" should be in RFC 5952 canonical format ("fd00::1")',
  ],
  [
    pod({ imagePullSecrets: [{ name: 'a' }, { name: 'a' }, {}] }),
    'spec.imagePullSecrets[1].name: duplicate name "a"',
    'spec.imagePullSecrets[2].name: invalid empty name ""',
  ],
  [
    pod({
      overhead: { memory: '1500m' },
      containers: [
        c({ resources: { limits: { 'ephemeral-storage': '100m', cpu: '100m' }, requests: { memory: '1m' } } }),
      ],
    }),
    'spec.overhead[memory]: fractional byte value "1500m" is invalid, must be an integer',
    'spec.containers[0].resources.limits[ephemeral-storage]: fractional byte value "100m" is invalid, must be an ' +
      'integer',
    'spec.containers[0].resources.requests[memory]: fractional byte value "1m" is invalid, must be an integer',
  ],
  [
    pod({
      containers: [
        c({
          env: [
            { name: 'A', value: '1' },
            { name: 'A', value: '$(A)2' },
            { name: 'A', value: '3' },
            { name: 'A', value: '$(A)' },
          ],
        }),
      ],
    }),
    'spec.containers[0].env[2]: hides previous definition of "A", which may be dropped when using apply',
    'spec.containers[0].env[3]: hides previous definition of "A", which may be dropped when using apply',
  ],
  [
    pod({ containers: [c({ ports: [port({ hostIP: '1.2.3.4' })] })] }),
    'spec.containers[0].ports[0]: hostIP set without hostPort: {Name: HostPort:0 ContainerPort:80 Protocol:TCP ' +
      'HostIP:1.2.3.4}',
  ],
  [
    pod({
      initContainers: [c({ name: 'i', ports: [port({})] })],
      containers: [c({ ports: [port({}), port({ hostPort: 1 }), port({ protocol: 'UDP' })] })],
    }),
    'spec.containers[0].ports[0]: duplicate port definition with spec.initContainers[0].ports[0]',
    'spec.containers[0].ports[1]: overlapping port definition with spec.initContainers[0].ports[0]',
    'spec.containers[0].ports[1]: overlapping port definition with spec.containers[0].ports[0]',
  ],
  [
    pod({ containers: [c({ ports: [port({ hostPort: 80 }), port({ hostPort: 80, hostIP: '1.2.3.4' })] })] }),
    'spec.containers[0].ports[1]: dangerously ambiguous port definition with spec.containers[0].ports[0]',
  ],
  [
    pod({
      containers: [
        c({ ports: [port({ name: 'web' })] }),
        c({ name: 'd', ports: [port({ name: 'web', containerPort: 81 })] }),
      ],
    }),
    'spec.containers[1].ports[0]: duplicate port name "web" with spec.containers[0].ports[0], services and ' +
      'probes that select ports by name will use spec.containers[0].ports[0]',
  ],
  [
    pod({ terminationGracePeriodSeconds: -1 }),
    'spec.terminationGracePeriodSeconds: must be >= 0; negative values are invalid and will be treated as 1',
  ],
  [
    pod({}, { name: 'a.b' }),
    "metadata.name: this is used in the Pod's hostname, which can result in surprising behavior; a DNS label is " +
      'recommended: [must not contain dots]',
  ],
]

test('pods cause warnings about deprecated, useless and surprising fields', () => {
  for (const [given, ...expected] of cases) assert.deepEqual(podWarnings(given), expected)
})

test('templates cause the same warnings as pods, with their own paths', () => {
  const template = (spec: object, metadata: object = {}): PodTemplate =>
    ({ metadata, spec: { containers: [c()], ...spec } as unknown as PodSpec }) as PodTemplate
  assert.deepEqual(templateWarnings(undefined), [])
  assert.deepEqual(
    templateWarnings(
      template(
        { nodeSelector: { 'beta.kubernetes.io/os': 'linux' } },
        annotated('security.alpha.kubernetes.io/sysctls'),
      ),
    ),
    [
      'spec.template.spec.nodeSelector[beta.kubernetes.io/os]: deprecated since v1.14; use "kubernetes.io/os" instead',
      'spec.template.metadata.annotations[security.alpha.kubernetes.io/sysctls]: non-functional in v1.11+; use ' +
        'the "sysctls" field instead',
    ],
  )
  const appArmor = annotated('container.apparmor.security.beta.kubernetes.io/c')
  assert.deepEqual(templateWarnings(template({}, appArmor)), [
    'spec.template.metadata.annotations[container.apparmor.security.beta.kubernetes.io/c]: deprecated since ' +
      'v1.30; use the "appArmorProfile" field instead',
  ])
  assert.deepEqual(
    templateWarnings(template({ securityContext: { appArmorProfile: { type: 'Unconfined' } } }, appArmor)),
    [],
  )
  assert.deepEqual(templateWarnings(template(volume({ cephfs: {} })), 'template'), [
    'template.spec.volumes[0].cephfs: deprecated in v1.28, non-functional in v1.31+',
  ])
})

test('an update of a pod causes no warnings', () => {
  const old = pod({ nodeSelector: { 'beta.kubernetes.io/os': 'linux' } }, { name: 'a.b' })
  assert.equal(podWarnings(old).length, 2)
  assert.deepEqual(podWarnings(old, old), [])
})
