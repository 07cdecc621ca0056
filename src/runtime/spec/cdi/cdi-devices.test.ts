import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { create } from '@bufbuild/protobuf'
import { ContainerConfigSchema } from '#protobuf/cri-runtime_pb.js'
import type { OciSpec } from '../oci-spec.ts'
import { withCdiDevices } from './index.ts'

const root = mkdtempSync(join(tmpdir(), 't8s-cdi-'))
after(() => rmSync(root, { recursive: true, force: true }))
let count = 0

/** The path of a new folder with spec files by name. */
function folderOf(files: Readonly<Record<string, object | string>>): string {
  const folder = join(root, String(++count))
  mkdirSync(join(folder, 'sub.json'), { recursive: true })
  for (const [name, content] of Object.entries(files))
    writeFileSync(join(folder, name), typeof content === 'string' ? content : JSON.stringify(content))
  return folder
}

const fileOf = (devices: Readonly<Record<string, object>>, containerEdits: object = {}): object => ({
  cdiVersion: '1.1.0',
  kind: 'vendor.com/class',
  containerEdits,
  devices: Object.entries(devices).map(([name, edits]) => ({ name, containerEdits: edits })),
})

const bind = (destination: string): OciSpec['mounts'][0] => ({
  ...{ destination, type: 'bind', source: '/tmp' },
  options: ['rbind'],
})

const before: OciSpec = {
  ociVersion: '1.0.2',
  root: { path: '/root', readonly: false },
  process: {
    ...{ terminal: false, args: ['sh'], cwd: '/', noNewPrivileges: false },
    user: { uid: 33, gid: 34, additionalGids: [5] },
    env: ['PATH=/bin', 'A=old', 'B=2'],
    capabilities: { bounding: [], effective: [], inheritable: [], permitted: [], ambient: [] },
  },
  mounts: [bind('/proc'), bind('/data'), bind('/etc/hosts')],
  annotations: {},
  linux: {
    ...{ namespaces: [], cgroupsPath: '/pod', maskedPaths: [], readonlyPaths: [] },
    devices: [{ path: '/dev/x', type: 'c', major: 9, minor: 9, fileMode: 0o600, uid: 0, gid: 0 }],
    resources: { devices: [{ allow: false, access: 'rwm' }] },
  },
}

const crun = { name: 'crun', supportsHooks: true }

interface Request {
  readonly annotations?: Readonly<Record<string, string>>
  readonly executor?: typeof crun
}

function inject(folders: readonly string[], names: readonly string[], request: Request = {}): Promise<OciSpec> {
  const { annotations = {}, executor = crun } = request
  const CDIDevices = names.map((name) => ({ name }))
  return withCdiDevices(before, create(ContainerConfigSchema, { CDIDevices, annotations }), { folders, executor })
}

/** The specification with edits of one device. */
const edited = (edits: object): Promise<OciSpec> =>
  inject([folderOf({ 'a.json': fileOf({ one: edits }) })], ['vendor.com/class=one'])

const name = (device: string): string => `vendor.com/class=${device}`
const variableOf = ({ process }: OciSpec): string | undefined => process.env.find((one) => one.startsWith('A='))

test('a container without CDI devices is unchanged, and no folder is read', async () => {
  assert.equal(await inject([join(root, 'a\0')], []), before)
})

test('shared edits of a file are applied once, before those of its devices, in the order of the request', async () => {
  const devices = { one: { env: ['A=one'] }, two: { env: ['A=two'] } }
  const shared = { env: ['A=shared', 'C=3'], hooks: [{ hookName: 'poststop', path: '/bin/hook' }] }
  const folders = [join(root, 'missing'), folderOf({ 'a.json': fileOf(devices, shared), 'notes.txt': '?' })]
  const { process, hooks } = await inject(folders, [name('two'), name('one'), name('two')])
  assert.deepEqual(process.env, ['PATH=/bin', 'A=one', 'B=2', 'C=3'])
  assert.deepEqual(hooks, { poststop: [{ path: '/bin/hook' }] })
})

test('annotations request devices, beside the field of CRI', async () => {
  const folders = [
    folderOf({ 'a.yaml': fileOf({ one: { env: ['A=1'] }, two: { env: ['B=3'] }, c: { env: ['C=1'] } }) }),
  ]
  const annotations = { 'cdi.k8s.io/x': `${name('two')},${name('one')}`, other: 'no' }
  assert.deepEqual((await inject(folders, [name('one')], { annotations })).process.env, ['PATH=/bin', 'A=1', 'B=3'])
  await assert.rejects(inject(folders, [], { annotations: { 'cdi.k8s.io/x': 'one' } }), {
    message: 'failed to parse CDI device annotations: invalid CDI device name "one"',
  })
})

test('a later folder wins, and two files of a folder conflict', async () => {
  const [first, second] = ['first', 'second'].map((value) => fileOf({ one: { env: [`A=${value}`] } }))
  assert.equal(
    variableOf(await inject([folderOf({ 'z.json': first! }), folderOf({ 'a.json': second! })], [name('one')])),
    'A=second',
  )
  const folder = folderOf({ 'a.json': first!, 'b.yaml': second! })
  await assert.rejects(inject([folder], [name('one')]), {
    message:
      `CDI device injection failed: unresolvable CDI devices ${name('one')}: conflicting device "${name('one')}" ` +
      `(specs "${folder}/a.json", "${folder}/b.yaml")`,
  })
})

test('missing devices are all named, with the errors of files; other devices of such a folder remain', async () => {
  const folder = folderOf({ 'a.json': fileOf({ one: { env: ['A=1'] } }), 'b.json': '{}' })
  assert.equal(variableOf(await inject([folder], [name('one')])), 'A=1')
  await assert.rejects(inject([folder], [name('two'), name('one'), 'other']), {
    message:
      `CDI device injection failed: unresolvable CDI devices ${name('two')}, other: ` +
      `cannot read ${folder}/b.json: invalid version ""`,
  })
  const message = /unresolvable CDI devices vendor.com\/class=one: no spec file in \/none\/a or \/none\/b has them$/
  await assert.rejects(inject(['/none/a', '/none/b'], [name('one')]), message)
})

test("a node has the numbers of the host's, and the owner and permissions of the container by default", async () => {
  const { devices, resources } = (
    await edited({
      deviceNodes: [{ path: '/dev/x', hostPath: '/dev/null' }],
    })
  ).linux
  const numbers = { type: 'c', major: 1, minor: 3 }
  assert.deepEqual(devices, [{ path: '/dev/x', ...numbers, fileMode: 0o666, uid: 33, gid: 34 }])
  assert.deepEqual(resources.devices, [
    { allow: false, access: 'rwm' },
    { allow: true, access: 'rwm', ...numbers },
  ])
})

test('a node that a file describes completely needs none on the host', async () => {
  const numbers = { type: 'b', major: 250, minor: 7 }
  const node = { path: '/dev/y', ...numbers, fileMode: 0o640, uid: 0, gid: 6 }
  const { devices, resources } = (await edited({ deviceNodes: [{ ...node, permissions: 'r' }] })).linux
  assert.deepEqual(devices[1], node)
  assert.deepEqual(resources.devices![1], { allow: true, access: 'r', ...numbers })
  const none = (await edited({ deviceNodes: [{ ...node, permissions: 'none' }] })).linux
  assert.deepEqual([none.devices.length, none.resources.devices!.length], [2, 1])
})

test('a node that is missing on the host, or is another one, is an error', async () => {
  const fails = (node: object, message: RegExp): Promise<void> =>
    assert.rejects(edited({ deviceNodes: [node] }), message)
  await fails({ path: '/dev/none' }, /injection failed: failed to stat CDI host device "\/dev\/none": ENOENT/)
  await fails({ path: root }, /: not a device node$/)
  await fails(
    { path: '/dev/x', hostPath: '/dev/null', type: 'b' },
    /: CDI device \("\/dev\/x", "\/dev\/null"\), host type mismatch \(b, c\)$/,
  )
})

test('a mount replaces one at its path, and comes before mounts below it', async () => {
  const mounts = [
    { hostPath: '/lib', containerPath: '/data/', options: ['ro'] },
    { hostPath: '/opt', containerPath: '/vendor', type: 'bind', options: ['bind', 'nosuid'] },
    { hostPath: 'tmpfs', containerPath: '/cache', type: 'tmpfs' },
  ]
  assert.deepEqual((await edited({ mounts })).mounts, [
    bind('/proc'),
    { destination: '/data', type: 'bind', source: '/lib', options: ['rbind', 'ro'] },
    { destination: '/vendor', type: 'bind', source: '/opt', options: ['bind', 'nosuid'] },
    { destination: '/cache', type: 'tmpfs', source: 'tmpfs', options: [] },
    bind('/etc/hosts'),
  ])
})

test('groups are added once, and never that of root', async () => {
  assert.deepEqual((await edited({ additionalGids: [7, 0, 5, 7] })).process.user.additionalGids, [5, 7])
})

test('hooks are those of the OCI specification, and an error for executors without them', async () => {
  const hook = { path: '/bin/hook', args: ['hook', 'x'], env: ['A=1'], timeout: 3 }
  const edits = { hooks: ['createRuntime', 'prestart', 'createRuntime'].map((hookName) => ({ hookName, ...hook })) }
  assert.deepEqual((await edited(edits)).hooks, { prestart: [hook], createRuntime: [hook, hook] })
  const folders = [folderOf({ 'a.json': fileOf({ one: edits }) })]
  await assert.rejects(inject(folders, [name('one')], { executor: { name: 'shell', supportsHooks: false } }), {
    message:
      `CDI device injection failed: device ${name('one')} has hooks, which the executor shell does not run: ` +
      'use crun or runc',
  })
})

test('network devices and limits of caches are not supported', async () => {
  const all = { netDevices: [{ hostInterfaceName: 'eth9', name: 'eth1' }], intelRdt: { closID: 'x' } }
  for (const [field, value] of Object.entries(all)) {
    const message = new RegExp(
      `device vendor.com/class=one has ${field}, which this runtime does not support: remove it from /.*/a.json$`,
    )
    await assert.rejects(edited({ [field]: value }), message)
  }
})
