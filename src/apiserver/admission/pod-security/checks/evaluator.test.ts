import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { PodSpec } from '../../../../api/core/pod/model.ts'
import type { Level, Version } from '../policy/policy.ts'
import { detailsOf, evaluatePod, reasonsOf } from './evaluator.ts'

type Parts = Omit<PodSpec, 'containers'> & { readonly containers?: readonly object[] }
type Security = Readonly<Record<string, unknown>>

const good = {
  allowPrivilegeEscalation: false,
  runAsNonRoot: true,
  capabilities: { drop: ['ALL'] },
  seccompProfile: { type: 'RuntimeDefault' },
}
const container = (securityContext?: Security, more: object = {}) => ({
  name: 'c',
  image: 'i',
  ...(securityContext && { securityContext }),
  ...more,
})
const withContext = (securityContext: Security, more: Parts = {}): Parts => ({
  ...more,
  containers: [container(securityContext)],
})

/** Returns the details of a pod's violations; empty if it is allowed. */
function details(
  level: Level,
  version: Version,
  spec: Parts,
  annotations: Readonly<Record<string, string>> = {},
): string {
  return detailsOf(
    evaluatePod({ level, version }, { annotations, spec: { containers: [container(good)], ...spec } as PodSpec }),
  )
}

interface Case {
  readonly level: Level
  readonly version?: Version
  readonly fails: Parts
  readonly annotations?: Readonly<Record<string, string>>
  readonly expected: string
  readonly passes: Parts
}

const cases: Readonly<Record<string, Case>> = {
  hostNamespaces: {
    level: 'baseline',
    fails: { hostNetwork: true, hostIPC: true },
    expected: 'host namespaces (hostNetwork=true, hostIPC=true)',
    passes: { hostPID: false },
  },
  hostPathVolumes: {
    level: 'baseline',
    fails: { volumes: [{ name: 'a', hostPath: { path: '/' } }] },
    expected: 'hostPath volumes (volume "a")',
    passes: { volumes: [{ name: 'a', emptyDir: {} }] },
  },
  hostPorts: {
    level: 'baseline',
    fails: {
      containers: [
        container(good, { ports: [{ hostPort: 80 }, { hostPort: 443 }] }),
        container(good, { name: 'd', ports: [{ hostPort: 80 }] }),
      ],
    },
    expected: 'hostPort (containers "c", "d" use hostPorts 443, 80)',
    passes: { containers: [container(good, { ports: [{ containerPort: 80, hostPort: 0 }] })] },
  },
  hostProbesAndHostLifecycle: {
    level: 'baseline',
    fails: {
      containers: [
        container(good, {
          livenessProbe: { httpGet: { host: '1.2.3.4' } },
          lifecycle: { preStop: { tcpSocket: { host: 'other' } } },
        }),
      ],
    },
    expected: 'probe or lifecycle host (container "c" uses probe or lifecycle hosts "1.2.3.4", "other")',
    passes: { containers: [container(good, { livenessProbe: { httpGet: { port: 80 } } })] },
  },
  windowsHostProcess: {
    level: 'baseline',
    fails: withContext(
      { windowsOptions: { hostProcess: true } },
      { securityContext: { windowsOptions: { hostProcess: true } } },
    ),
    expected: 'hostProcess (pod and container "c" must not set securityContext.windowsOptions.hostProcess=true)',
    passes: withContext({ windowsOptions: { hostProcess: false } }),
  },
  privileged: {
    level: 'baseline',
    fails: withContext(
      { privileged: true },
      { initContainers: [{ name: 'i', securityContext: { privileged: true } }] },
    ),
    expected: 'privileged (containers "i", "c" must not set securityContext.privileged=true)',
    passes: withContext({ privileged: false }),
  },
  capabilities_baseline: {
    level: 'baseline',
    fails: withContext({ capabilities: { add: ['SYS_TIME', 'CHOWN', 'NET_RAW'] } }),
    expected:
      'non-default capabilities (container "c" must not include "NET_RAW", "SYS_TIME" in ' +
      'securityContext.capabilities.add)',
    passes: withContext({ capabilities: { add: ['KILL'] } }),
  },
  'appArmorProfile by fields': {
    level: 'baseline',
    fails: withContext(
      { appArmorProfile: { type: 'Unconfined' } },
      { securityContext: { appArmorProfile: { type: 'Unconfined' } } },
    ),
    expected: 'forbidden AppArmor profile (pod and container "c" must not set AppArmor profile type to "Unconfined")',
    passes: withContext({ appArmorProfile: { type: 'Localhost', localhostProfile: 'p' } }),
  },
  'appArmorProfile by annotations': {
    level: 'baseline',
    fails: {},
    annotations: {
      'container.apparmor.security.beta.kubernetes.io/c': 'unconfined',
      'container.apparmor.security.beta.kubernetes.io/d': 'localhost/x',
    },
    expected:
      'forbidden AppArmor profile (annotation must not set AppArmor profile type to ' +
      '"container.apparmor.security.beta.kubernetes.io/c="unconfined"")',
    passes: {},
  },
  seLinuxOptions: {
    level: 'baseline',
    fails: withContext(
      { seLinuxOptions: { type: 'spc_t', role: 'r' } },
      { securityContext: { seLinuxOptions: { user: 'u' } } },
    ),
    expected:
      'seLinuxOptions (pod and container "c" set forbidden securityContext.seLinuxOptions: type "spc_t"; user ' +
      'may not be set; role may not be set)',
    passes: withContext({ seLinuxOptions: { type: 'container_init_t', level: 's0' } }),
  },
  procMount: {
    level: 'baseline',
    fails: withContext({ procMount: 'Unmasked' }),
    expected: 'procMount (container "c" must not set securityContext.procMount to "Unmasked")',
    passes: withContext({ procMount: 'Unmasked' }, { hostUsers: false }),
  },
  sysctls: {
    level: 'baseline',
    fails: {
      securityContext: {
        sysctls: [
          { name: 'a', value: '1' },
          { name: 'kernel.shm_rmid_forced', value: '1' },
          { name: 'b', value: '1' },
        ],
      },
    },
    expected: 'forbidden sysctls (a, b)',
    passes: { securityContext: { sysctls: [{ name: 'net.ipv4.tcp_rmem', value: '1' }] } },
  },
  'seccompProfile_baseline by annotations': {
    level: 'baseline',
    version: 18,
    fails: {},
    annotations: {
      'seccomp.security.alpha.kubernetes.io/pod': 'unconfined',
      'container.seccomp.security.alpha.kubernetes.io/c': 'docker/default',
    },
    expected: 'seccompProfile (forbidden annotation seccomp.security.alpha.kubernetes.io/pod="unconfined")',
    passes: { securityContext: { seccompProfile: { type: 'Unconfined' } } },
  },
  'seccompProfile_baseline by fields': {
    level: 'baseline',
    fails: withContext({ seccompProfile: { type: 'Unconfined' } }),
    expected: 'seccompProfile (container "c" must not set securityContext.seccompProfile.type to "Unconfined")',
    passes: withContext({}),
  },
  seccompProfile_restricted: {
    level: 'restricted',
    fails: withContext({ ...good, seccompProfile: undefined }),
    expected:
      'seccompProfile (pod or container "c" must set securityContext.seccompProfile.type to "RuntimeDefault" or ' +
      '"Localhost")',
    passes: withContext(
      { ...good, seccompProfile: undefined },
      { securityContext: { seccompProfile: { type: 'Localhost' } } },
    ),
  },
  allowPrivilegeEscalation: {
    level: 'restricted',
    fails: withContext({ ...good, allowPrivilegeEscalation: undefined }),
    expected:
      'allowPrivilegeEscalation != false (container "c" must set securityContext.allowPrivilegeEscalation=false)',
    passes: withContext(
      { ...good, allowPrivilegeEscalation: undefined, seccompProfile: undefined, capabilities: undefined },
      { os: { name: 'windows' } },
    ),
  },
  capabilities_restricted: {
    level: 'restricted',
    fails: withContext({ ...good, capabilities: { add: ['CHOWN', 'NET_BIND_SERVICE'] } }),
    expected:
      'unrestricted capabilities (container "c" must set securityContext.capabilities.drop=["ALL"]; container ' +
      '"c" must not include "CHOWN" in securityContext.capabilities.add)',
    passes: withContext({ ...good, capabilities: { add: ['NET_BIND_SERVICE'], drop: ['ALL'] } }),
  },
  procMount_restricted: {
    level: 'restricted',
    fails: withContext({ ...good, procMount: 'Unmasked' }, { hostUsers: false }),
    expected: 'procMount (container "c" must not set securityContext.procMount to "Unmasked")',
    passes: withContext({ ...good, procMount: 'Default' }),
  },
  restrictedVolumes: {
    level: 'restricted',
    fails: {
      volumes: [
        { name: 'a', hostPath: { path: '/' } },
        { name: 'b', nfs: { server: 's', path: '/' } },
      ],
    },
    expected: 'restricted volume types (volumes "a", "b" use restricted volume types "hostPath", "nfs")',
    passes: {
      volumes: [
        { name: 'a', projected: { sources: [] } },
        { name: 'b', image: { reference: 'files' } },
      ],
    },
  },
  'runAsNonRoot, not set': {
    level: 'restricted',
    fails: withContext({ ...good, runAsNonRoot: undefined }),
    expected: 'runAsNonRoot != true (pod or container "c" must set securityContext.runAsNonRoot=true)',
    passes: withContext({ ...good, runAsNonRoot: undefined }, { securityContext: { runAsNonRoot: true } }),
  },
  'runAsNonRoot, set to false': {
    level: 'restricted',
    fails: withContext({ ...good, runAsNonRoot: false }, { securityContext: { runAsNonRoot: false } }),
    expected: 'runAsNonRoot != true (pod and container "c" must not set securityContext.runAsNonRoot=false)',
    passes: withContext({ ...good, runAsNonRoot: false }, { hostUsers: false }),
  },
  runAsUser: {
    level: 'restricted',
    fails: withContext({ ...good, runAsUser: 0 }),
    expected: 'runAsUser=0 (container "c" must not set runAsUser=0)',
    passes: withContext({ ...good, runAsUser: 1000 }),
  },
}

describe('checks of the Pod Security Standards', () => {
  for (const [name, { level, version = 'latest', fails, annotations, expected: says, passes }] of Object.entries(
    cases,
  )) {
    test(name, () => {
      assert.equal(details(level, version, fails, annotations), says)
      assert.equal(details(level, version, passes), '')
      assert.equal(details('privileged', version, fails, annotations), '')
    })
  }
})

describe('versions of the Pod Security Standards', () => {
  const sysctl = (name: string): Parts => ({ securityContext: { sysctls: [{ name, value: '1' }] } })
  // The first version in which a pod is rejected, or allowed.
  const refusedSince: readonly (readonly [string, number, Level, Parts])[] = [
    ['privilege escalation', 8, 'restricted', withContext({ ...good, allowPrivilegeEscalation: undefined })],
    ['a missing seccomp profile', 19, 'restricted', withContext({ ...good, seccompProfile: undefined })],
    ['capabilities that are not dropped', 22, 'restricted', withContext({ ...good, capabilities: undefined })],
    ['root', 23, 'restricted', withContext({ ...good, runAsUser: 0 })],
    [
      'hosts of probes',
      34,
      'baseline',
      { containers: [container(good, { startupProbe: { tcpSocket: { host: 'h' } } })] },
    ],
  ]
  for (const [what, minor, level, spec] of refusedSince) {
    test(`${what} is rejected since v1.${minor}`, () => {
      assert.equal(details(level, minor - 1, spec), '')
      assert.notEqual(details(level, minor, spec), '')
    })
  }

  const allowedSince: readonly (readonly [string, number, Level, Parts])[] = [
    [
      'a Windows pod without Linux fields',
      25,
      'restricted',
      withContext({ runAsNonRoot: true }, { os: { name: 'windows' } }),
    ],
    ['the sysctl ip_local_reserved_ports', 27, 'baseline', sysctl('net.ipv4.ip_local_reserved_ports')],
    ['the sysctl tcp_fin_timeout', 29, 'baseline', sysctl('net.ipv4.tcp_fin_timeout')],
    [
      'the SELinux type container_engine_t',
      31,
      'baseline',
      withContext({ seLinuxOptions: { type: 'container_engine_t' } }),
    ],
    ['the sysctl tcp_wmem', 32, 'baseline', sysctl('net.ipv4.tcp_wmem')],
    [
      'an unmasked /proc in a user namespace',
      35,
      'baseline',
      withContext({ procMount: 'Unmasked' }, { hostUsers: false }),
    ],
    ['root in a user namespace', 35, 'restricted', withContext({ ...good, runAsUser: 0 }, { hostUsers: false })],
  ]
  for (const [what, minor, level, spec] of allowedSince) {
    test(`${what} is allowed since v1.${minor}`, () => {
      assert.notEqual(details(level, minor - 1, spec), '')
      assert.equal(details(level, minor, spec), '')
      assert.equal(details(level, 'latest', spec), '')
    })
  }

  test('a future version equals the newest one', () => {
    assert.equal(
      details('restricted', 99, { hostNetwork: true }),
      details('restricted', 'latest', { hostNetwork: true }),
    )
  })
})

test('baseline violations come first and are not repeated by restricted checks', () => {
  const violations = evaluatePod(
    { level: 'restricted', version: 'latest' },
    {
      annotations: {},
      spec: {
        hostNetwork: true,
        volumes: [{ name: 'h', hostPath: { path: '/' } }],
        containers: [container({ privileged: true })],
      } as PodSpec,
    },
  )
  assert.equal(
    reasonsOf(violations),
    'host namespaces, privileged, allowPrivilegeEscalation != false, unrestricted capabilities, restricted ' +
      'volume types, runAsNonRoot != true, seccompProfile',
  )
})
