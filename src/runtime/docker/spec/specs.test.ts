import assert from 'node:assert/strict'
import { test } from 'node:test'
import { create, type MessageInitShape } from '@bufbuild/protobuf'
import { ContainerConfigSchema, PodSandboxConfigSchema } from '#protobuf/cri-runtime_pb.js'
import { NamespaceMode, SecurityProfile_ProfileType as ProfileType } from '#protobuf/cri-values_pb.js'
import { containerSpec } from './container-spec.ts'
import { sandboxSpec } from './sandbox-spec.ts'

const common = { labels: {}, cgroupDriver: 'systemd', minOomScoreAdj: 0 }

type Spec = Readonly<Record<string, unknown>> & { readonly HostConfig: Readonly<Record<string, unknown>> }

const sandboxOf = (init: MessageInitShape<typeof PodSandboxConfigSchema>) => create(PodSandboxConfigSchema, init)

const specOfSandbox = (init: MessageInitShape<typeof PodSandboxConfigSchema>): Spec =>
  sandboxSpec({ ...common, config: sandboxOf(init), image: 'pause', network: 'bridge', runtime: '' }) as Spec

const specOfContainer = (
  init: MessageInitShape<typeof ContainerConfigSchema>,
  sandbox: MessageInitShape<typeof PodSandboxConfigSchema> = {},
): Spec =>
  containerSpec({
    ...common,
    config: create(ContainerConfigSchema, init),
    sandboxId: 'x',
    sandbox: sandboxOf(sandbox),
    user: { uid: 5, gid: 6, groups: [6, 7] },
    version: 41,
    runtime: '',
  }) as Spec

test('a sandbox has ports, DNS, sysctls and the slice of its pod', () => {
  const { Hostname, ExposedPorts, HostConfig } = specOfSandbox({
    hostname: 'web',
    portMappings: [
      { containerPort: 80, hostPort: 8080, hostIp: '127.0.0.1' },
      { containerPort: 53, protocol: 1, hostPort: 5353 },
      { containerPort: 99 },
    ],
    dnsConfig: { servers: ['10.0.0.10'] },
    linux: { sysctls: { 'net.core.somaxconn': '99' }, cgroupParent: '/kubepods.slice/kubepods-pod1.slice' },
  })
  assert.equal(Hostname, 'web')
  assert.deepEqual(ExposedPorts, { '80/tcp': {}, '53/udp': {} })
  assert.deepEqual(HostConfig.PortBindings, {
    '80/tcp': [{ HostIp: '127.0.0.1', HostPort: '8080' }],
    '53/udp': [{ HostIp: '', HostPort: '5353' }],
  })
  assert.deepEqual([HostConfig.Dns, HostConfig.DnsSearch], [['10.0.0.10'], ['.']])
  assert.deepEqual(HostConfig.Sysctls, { 'net.core.somaxconn': '99' })
  assert.equal(HostConfig.CgroupParent, 'kubepods-pod1.slice')
  assert.deepEqual([HostConfig.NetworkMode, HostConfig.IpcMode, HostConfig.OomScoreAdj], ['bridge', 'shareable', 0])
})

test('containers join the namespaces of their sandbox, and processes as the pod wants it', () => {
  const modes = (pid: NamespaceMode, targetId = ''): unknown => {
    const options = { namespaceOptions: { pid, targetId } }
    const { HostConfig } = specOfContainer(
      { linux: { securityContext: options } },
      { linux: { securityContext: { namespaceOptions: { pid: NamespaceMode.POD } } } },
    )
    return [HostConfig.NetworkMode, HostConfig.IpcMode, HostConfig.PidMode]
  }
  const shared = 'container:x'
  assert.deepEqual(modes(NamespaceMode.POD), [shared, shared, shared])
  assert.deepEqual(modes(NamespaceMode.CONTAINER), [shared, shared, undefined])
  assert.deepEqual(modes(NamespaceMode.NODE), [shared, shared, 'host'])
  assert.deepEqual(modes(NamespaceMode.TARGET, 'y'), [shared, shared, 'container:y'])
})

test('a container has its program, user, limits, mounts and devices', () => {
  const { HostConfig, ...spec } = specOfContainer({
    image: { image: 'nginx' },
    command: ['sh'],
    envs: [{ key: 'a', value: Buffer.from('b=c') }],
    stopSignal: 10,
    mounts: [{ hostPath: '/etc', containerPath: '/host', readonly: true, propagation: 1 }],
    devices: [{ hostPath: '/dev/null', containerPath: '/dev/n', permissions: 'rw' }],
    linux: { resources: { cpuShares: 512n, cpuQuota: 50_000n, memoryLimitInBytes: 64n << 20n, oomScoreAdj: -10n } },
  })
  assert.deepEqual(
    [spec.Image, spec.Entrypoint, spec.Cmd, spec.Env, spec.StopSignal],
    ['nginx', ['sh'], undefined, ['a=b=c'], 'SIGINT'],
  )
  assert.deepEqual([spec.User, HostConfig.GroupAdd], ['5:6', ['7']])
  const { CpuShares, CpuQuota, Memory, MemorySwap, OomScoreAdj } = HostConfig
  assert.deepEqual([CpuShares, CpuQuota, Memory, MemorySwap, OomScoreAdj], [512, 50_000, 1 << 26, 1 << 26, 0])
  assert.deepEqual(HostConfig.Mounts, [
    { Type: 'bind', Source: '/etc', Target: '/host', ReadOnly: true, BindOptions: { Propagation: 'rslave' } },
  ])
  assert.deepEqual(HostConfig.Devices, [
    { PathOnHost: '/dev/null', PathInContainer: '/dev/n', CgroupPermissions: 'rw' },
  ])
})

test('security contexts become options', () => {
  const optionsOf = (securityContext: object): unknown =>
    specOfContainer({ linux: { securityContext } }).HostConfig.SecurityOpt
  assert.deepEqual(optionsOf({}), ['seccomp=unconfined'])
  assert.deepEqual(optionsOf({ seccomp: { profileType: ProfileType.RuntimeDefault }, noNewPrivs: true }), [
    'no-new-privileges',
  ])
  assert.deepEqual(
    optionsOf({
      apparmor: { profileType: ProfileType.Localhost, localhostRef: 'strict' },
      selinuxOptions: { level: 's0' },
    }),
    ['seccomp=unconfined', 'apparmor=strict', 'label=level:s0'],
  )
  const { HostConfig } = specOfContainer({
    linux: { securityContext: { capabilities: { dropCapabilities: ['ALL'] }, maskedPaths: ['/proc/kcore'] } },
  })
  assert.deepEqual(
    [HostConfig.CapDrop, HostConfig.MaskedPaths, HostConfig.ReadonlyPaths],
    [['ALL'], ['/proc/kcore'], []],
  )
})

test('what Docker cannot do is an error', () => {
  const rejects = (init: MessageInitShape<typeof ContainerConfigSchema>, pattern: RegExp): void =>
    assert.throws(() => specOfContainer(init), pattern)
  rejects({ mounts: [{ image: { image: 'data' }, containerPath: '/data' }] }, /volumes of images/)
  rejects(
    { mounts: [{ hostPath: '/etc', containerPath: '/etc', readonly: true, recursiveReadOnly: true }] },
    /Docker 25/,
  )
  rejects({ linux: { securityContext: { capabilities: { addAmbientCapabilities: ['CHOWN'] } } } }, /ambient/)
  rejects({ linux: { securityContext: { privileged: true } } }, /no privileged container/)
  const usernsOptions = { mode: NamespaceMode.POD }
  assert.throws(
    () => specOfSandbox({ linux: { securityContext: { namespaceOptions: { usernsOptions } } } }),
    /hostUsers: false/,
  )
})
