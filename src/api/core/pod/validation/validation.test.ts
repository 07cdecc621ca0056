import assert from 'node:assert/strict'
import test from 'node:test'
import { podSpecDefaults } from '../defaults/pod-defaults.ts'
import type { PodSpec } from '../model.ts'
import { podSpec, type TemplateOptions } from './spec.ts'

const c = (over: object = {}): object => ({ name: 'c', image: 'app:1', ...over })
function validationErrors(given: object, template?: TemplateOptions): string[] {
  const spec = structuredClone({ containers: [c()], ...given }) as unknown as PodSpec
  podSpecDefaults(spec)
  return podSpec(spec, 'spec', template).map(({ field, message }) => `${field}: ${message}`)
}
const volume = (source: object): object => ({ volumes: [{ name: 'v', ...source }] })

test('vendor volumes need their required fields', () => {
  const cases: [source: object, ...faults: string[]][] = [
    [
      { gcePersistentDisk: { partition: 256 } },
      'persistentDisk.pdName: Required value',
      'persistentDisk.partition: Invalid value: 256: must be between 0 and 255, inclusive',
    ],
    [{ awsElasticBlockStore: {} }, 'awsElasticBlockStore.volumeID: Required value'],
    [{ flocker: {} }, 'flocker: Required value: one of datasetName and datasetUUID is required'],
    [{ rbd: {} }, 'rbd.monitors: Required value', 'rbd.image: Required value'],
    [{ cephfs: {} }, 'cephfs.monitors: Required value'],
    [
      { quobyte: { registry: '1Gi', volume: 'x' } },
      'quobyte.registry: Invalid value: "1Gi": must be a host:port pair or multiple pairs separated by commas',
    ],
    [{ quobyte: { registry: 'a:1,b:2', volume: 'x' } }],
    [{ cinder: { secretRef: {} } }, 'cinder.volumeID: Required value', 'cinder.secretRef.name: Required value'],
    [
      { flexVolume: { driver: 'd', options: { 'kubernetes.io/x': 'y' } } },
      'flexVolume.options[kubernetes.io/x]: Invalid value: "kubernetes.io/x": kubernetes.io and k8s.io ' +
        'namespaces are reserved',
    ],
    [{ azureFile: {} }, 'azureFile.secretName: Required value', 'azureFile.shareName: Required value'],
    [{ vsphereVolume: {} }, 'vsphereVolume.volumePath: Required value'],
    [{ portworxVolume: {} }, 'portworxVolume.volumeID: Required value'],
    [
      { azureDisk: { diskName: 'd', diskURI: '-5m' } },
      'azureDisk.diskURI: Unsupported value: "-5m": supported values: ' +
        '"https://{account-name}.blob.core.windows.net/{container-name}/{disk-name}.vhd"',
    ],
    [
      { scaleIO: {} },
      'scaleIO.gateway: Required value',
      'scaleIO.system: Required value',
      'scaleIO.volumeName: Required value',
    ],
    [{ nfs: { server: 's' } }, 'nfs.path: Required value', 'nfs.path: Invalid value: "": must be an absolute path'],
    [
      { iscsi: { targetPortal: 'p', iqn: 'iqn.bad', lun: 0, chapAuthSession: true } },
      'iscsi.iqn: Invalid value: "iqn.bad": must be valid format',
      'iscsi.secretRef: Required value',
    ],
  ]
  for (const [source, ...faults] of cases)
    assert.deepEqual(
      validationErrors(volume(source)),
      faults.map((fault) => `spec.volumes[0].${fault}`),
    )
})

test('a template may omit host ports, and mount claims of volumeClaimTemplates', () => {
  const ports = { hostNetwork: true, containers: [c({ ports: [{ containerPort: 80 }] })] }
  assert.deepEqual(validationErrors(ports), [
    'spec.containers[0].ports[0].hostPort: Invalid value: 0: must match `containerPort` when `hostNetwork` is true',
  ])
  assert.deepEqual(validationErrors(ports, {}), [])
  assert.equal(
    validationErrors({ hostNetwork: true, containers: [c({ ports: [{ containerPort: 80, hostPort: 81 }] })] }, {})
      .length,
    1,
  )
  const mounts = { containers: [c({ volumeMounts: [{ name: 'data', mountPath: '/data' }] })] }
  assert.deepEqual(validationErrors(mounts, {}), ['spec.containers[0].volumeMounts[0].name: Not found: "data"'])
  assert.deepEqual(validationErrors(mounts, { claims: ['data'] }), [])
})

test('localhostProfile must be a valid relative path', () => {
  const at = (field: string, profile: object): string[] => validationErrors({ securityContext: { [field]: profile } })
  assert.deepEqual(at('seccompProfile', { type: 'Localhost', localhostProfile: 'profiles/a.json' }), [])
  assert.deepEqual(at('seccompProfile', { type: 'Localhost', localhostProfile: '/a.json' }), [
    'spec.securityContext.seccompProfile.localhostProfile: Invalid value: "/a.json": must be a relative path',
  ])
  assert.deepEqual(at('seccompProfile', { type: 'Localhost', localhostProfile: '../a' }), [
    `spec.securityContext.seccompProfile.localhostProfile: Invalid value: "../a": must not contain '..'`,
  ])
  assert.deepEqual(at('appArmorProfile', { type: 'Localhost', localhostProfile: ' a' }), [
    'spec.securityContext.appArmorProfile.localhostProfile: Invalid value: " a": must not be padded with whitespace',
  ])
  assert.deepEqual(at('appArmorProfile', {}), [
    'spec.securityContext.appArmorProfile.type: Required value: type is required when appArmorProfile is set',
  ])
})

test('containers without a name are reported as duplicates too', () => {
  assert.deepEqual(validationErrors({ containers: [c({ name: '' }), c({ name: '' })] }), [
    'spec.containers[0].name: Required value',
    'spec.containers[1].name: Required value',
    'spec.containers[1].name: Duplicate value: ""',
  ])
})

test('Windows pods need valid user names, and hostProcess in all containers or none', () => {
  const user = (runAsUserName: string): string[] =>
    validationErrors({ securityContext: { windowsOptions: { runAsUserName } } }).map((fault) =>
      fault.replace(/.*": runAsUserName/, ''),
    )
  assert.deepEqual(user('NT AUTHORITY\\SYSTEM'), [])
  assert.deepEqual(user('a\\b\\c'), [' cannot contain more than one backslash'])
  assert.deepEqual(user('dom\\'), ["'s User cannot be empty"])
  assert.deepEqual(user('a*b'), [`'s User cannot contain the following characters: "/\\:;|=,+*?<>@[]`])
  const onHost = { securityContext: { windowsOptions: { hostProcess: true } } }
  assert.deepEqual(validationErrors({ hostNetwork: true, ...onHost }), [])
  assert.deepEqual(validationErrors({ containers: [c(onHost), c({ name: 'd' })] }), [
    'spec: Invalid value: "": If pod contains any hostProcess containers then all containers must be HostProcess ' +
      'containers',
    'spec.hostNetwork: Invalid value: false: hostNetwork must be true if pod contains any hostProcess containers',
  ])
})

test('a user namespace excludes namespaces of the host', () => {
  assert.deepEqual(validationErrors({ hostUsers: false, hostPID: true, hostNetwork: true }), [
    'spec.hostNetwork: Forbidden: when `hostUsers` is false',
    'spec.HostPID: Forbidden: when `hostUsers` is false',
  ])
  assert.deepEqual(validationErrors({ hostUsers: false }), [])
})
