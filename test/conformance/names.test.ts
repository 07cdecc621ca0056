/** Conformance tests of upstream about scheduling, volumes, nodes, workloads and kubectl have namesakes here. */
import assert from 'node:assert/strict'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { fromYaml } from '../../src/machinery/yaml.ts'

const root = join(import.meta.dirname, '../..')
const list = join(root, '../shared/data/conformance-1.36.yaml')

interface Described {
  readonly testname: string
  readonly codename: string
  readonly file: string
}

const words = (text: string): string => text.replace(/\s+/g, ' ').trim()

/** A title, which may be a sum of strings if it is long. */
const titles = /^test\(\s*'\[Conformance\] ((?:[^']|' \+\s+')+)'/gm

const skip = !existsSync(list) && `${list} is not there`

/** Files below `test/e2e/` whose tests run on our kubelet. */
const nodeFiles = [
  'common/node/container_probe.go',
  'common/node/containers.go',
  'common/node/expansion.go',
  'common/node/kubelet.go',
  'common/node/kubelet_etc_hosts.go',
  'common/node/lifecycle_hook.go',
  'common/node/runtime.go',
  'common/node/security_context.go',
  'common/node/sysctl.go',
  'node/pods.go',
  'node/pre_stop.go',
  'node/security_context.go',
].map((file) => `test/e2e/${file}`)

test('conformance tests of the node each have a test of their name', { skip }, () => {
  const described = (fromYaml(readFileSync(list, 'utf8')) as Described[]).filter(({ file }) => nodeFiles.includes(file))
  const ours = globSync('test/kubelet/conformance/node-*.test.ts', { cwd: root })
    .map((file) => readFileSync(join(root, file), 'utf8'))
    .join('')
  assert.deepEqual([...new Set(described.map(({ file }) => file))].sort(), nodeFiles.toSorted())
  const missing = described
    .map(({ testname }) => testname)
    .filter((name) => !ours.includes(`'${name}'`) && !ours.includes(`"${name}"`))
  assert.deepEqual(missing, [])
})

test('conformance tests of volumes each have a test of their name', { skip }, () => {
  const described = (fromYaml(readFileSync(list, 'utf8')) as Described[]).filter(({ file }) =>
    file.startsWith('test/e2e/common/storage/'),
  )
  const ours = globSync('test/kubelet/conformance/storage-*.test.ts', { cwd: root })
    .map((file) => readFileSync(join(root, file), 'utf8'))
    .join('')
  assert.ok(described.length > 0)
  const isOnly = (name: string): boolean => described.filter(({ testname }) => testname === name).length === 1
  const missing = described
    .map(({ testname, codename }) => (isOnly(testname) ? testname : words(codename.replace(/\[[^\]]*\]/g, ''))))
    .filter((name) => !ours.includes(`'${name}'`))
  assert.deepEqual(missing, [])
})

/** The files whose tests run on our kubelet, with those of API objects on a server alone. */
const filesOfNodes = [
  ...['configmap', 'downwardapi', 'ephemeral_containers', 'image_volume', 'init_container', 'lease'],
  ...['pod_resize', 'pods', 'podtemplates', 'secrets'],
].map((name) => `test/e2e/common/node/${name}.go`)

test('conformance tests of nodes and their pods each have a test of their name', { skip }, () => {
  const files = [
    ...filesOfNodes,
    'test/e2e/common/network/networking.go',
    'test/e2e/node/node_lifecycle.go',
    'test/e2e/node/taints.go',
  ]
  const described = (fromYaml(readFileSync(list, 'utf8')) as Described[]).filter(({ file }) => files.includes(file))
  assert.deepEqual([...new Set(described.map(({ file }) => file))].sort(), files.sort())
  const ours = globSync('test/{kubelet/conformance,conformance/node}/**/*.test.ts', { cwd: root })
    .map((file) => readFileSync(join(root, file), 'utf8'))
    .join('')
    .replace(/' \+\s+'/g, '')
  const missing = described
    .filter(({ testname, codename }) => {
      const isOnly = described.filter((one) => one.testname === testname).length === 1
      const name = words(codename.replace(/\[[^\]]*\]/g, ''))
      return !(isOnly && ours.includes(`'${testname}'`)) && !ours.includes(`'${name}'`)
    })
    .map(({ testname }) => testname)
  assert.deepEqual(missing, [])
})

test('conformance tests of scheduling each have a test of their name', { skip }, () => {
  const described = (fromYaml(readFileSync(list, 'utf8')) as Described[]).filter(({ file }) =>
    file.startsWith('test/e2e/scheduling/'),
  )
  const ours = globSync('test/**/*.test.ts', { cwd: root }).flatMap((file) =>
    [...readFileSync(join(root, file), 'utf8').matchAll(titles)].map(([, name = '']) =>
      words(name.replace(/' \+\s+'/g, '')),
    ),
  )
  assert.ok(described.length > 0)
  const missing = described
    .map(({ codename }) => words(codename.replace('[Conformance]', '')))
    .filter((name) => !ours.some((own) => name.endsWith(own)))
  assert.deepEqual(missing, [])
})

/** The string or template of a title without the part that it shares with others, such as a prefix in `${…}`. */
const ownTitles = (file: string): readonly string[] =>
  [...readFileSync(join(root, file), 'utf8').matchAll(/^ *test\(\s*((?:(['"`])(?:(?!\2).)+\2(?:\s*\+\s*)?)+)/gms)].map(
    ([, title = '']) => words(title.replace(/(['"`])\s*\+\s*['"`]/g, '').slice(1, -1)).replace(/^\$\{\w+\} /, ''),
  )

test('conformance tests of workloads and of kubectl each have a test of their name on real nodes', { skip }, () => {
  const described = (fromYaml(readFileSync(list, 'utf8')) as Described[]).filter(({ file }) =>
    /^test\/e2e\/(apps|kubectl)\//.test(file),
  )
  const ours = new Set(
    [
      'test/conformance/suites/*.ts',
      'test/kubelet/conformance/apps-*.test.ts',
      'test/kubelet/conformance/kubectl.test.ts',
    ]
      .flatMap((pattern) => globSync(pattern, { cwd: root }))
      .flatMap(ownTitles),
  )
  const missing = described
    .map(({ codename }) => words(codename.replace(/\[[^\]]*\]/g, '')))
    .filter((name) => !ours.has(name) && !ours.has(name.replace('StatefulSet Basic StatefulSet functionality ', '')))
  assert.equal(described.length, 77)
  assert.deepEqual(missing, [])
})

test('conformance tests of the network each have a test of their name', { skip }, () => {
  const described = (fromYaml(readFileSync(list, 'utf8')) as Described[]).filter(({ file }) =>
    /^test\/e2e\/(common\/)?network\//.test(file),
  )
  const ours = [
    'test/services/conformance/suites/*.ts',
    'test/kubelet/conformance/network-pods.test.ts',
    'test/conformance/network/*.test.ts',
    'test/conformance/api-operations.test.ts',
    'test/controllers/endpoints/*.test.ts',
  ]
    .flatMap((pattern) => globSync(pattern, { cwd: root }))
    .map((file) => readFileSync(join(root, file), 'utf8').replace(/' \+\s+'/g, ''))
    .join('')
  const missing = described
    .map(({ testname, codename }) => [words(codename.replace(/\[[^\]]*\]/g, '')), testname] as const)
    .filter((both) => both.every((name) => !ours.includes(`'${name}'`)))
    .map(([name]) => name)
    // Their titles are templates of a type.
    .filter(
      (name) => !/^Services should (have session affinity work|be able to switch session affinity) for /.test(name),
    )
  assert.equal(described.length, 47)
  assert.deepEqual(missing, [])
})
