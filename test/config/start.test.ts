/** Short commands load little: SSH and the YAML writer only if needed, and few of Node's modules. */
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { Home, kubeconfigOf, launcher } from './home.ts'

interface Coverage {
  readonly result: readonly { readonly url: string }[]
}

/** Texts that identify packages in the bundle. */
const packages = { ssh2: 'SSH-2.0-', yaml: 'Unresolved alias' }

/** Returns the packages that a command loaded. */
async function loaded(home: Home, args: readonly string[]): Promise<string[]> {
  const folder = home.path(`coverage-${args.join('-')}`)
  await home.config(args, { env: { NODE_V8_COVERAGE: folder } })
  const urls = readdirSync(folder).flatMap((file) =>
    (JSON.parse(readFileSync(join(folder, file), 'utf8')) as Coverage).result.map(({ url }) => url),
  )
  const code = urls.filter((url) => url.startsWith('file:')).map((url) => readFileSync(fileURLToPath(url), 'utf8'))
  assert.ok(code.length > 3, 'the coverage contains the code of the command')
  return Object.entries(packages).flatMap(([name, sign]) => (code.some((text) => text.includes(sign)) ? [name] : []))
}

test('packages are loaded only by commands that need them', async (t) => {
  const home = new Home(t)
  home.write('.kube/config', kubeconfigOf(['dev', 'prod']))
  assert.deepEqual(await loaded(home, ['list']), [])
  assert.deepEqual(await loaded(home, ['show', 'dev']), [])
  assert.deepEqual(await loaded(home, ['use', 'prod']), ['yaml'])
  assert.deepEqual(await loaded(home, ['import', 'x', '-']), ['yaml'])
  assert.deepEqual(await loaded(home, ['import', 'x', '--from=ssh://127.0.0.1:1/x']), ['ssh2', 'yaml'])
})

/** Modules of Node that take long to load and that short commands do not need. */
const heavy = ['child_process', 'http', 'http2', 'https', 'net', 'tls', 'worker_threads']

const crash = 'panic: no\n\ngoroutine 1 [running]:\nmain.main()\n\t/src/main.go:7 +0x1d\n'

test('short commands load few modules of Node', async (t) => {
  const home = new Home(t)
  home.write('.kube/config', kubeconfigOf(['dev']))
  const list = home.path('loaded')
  const hook = home.write(
    'hook.mjs',
    "process.on('exit', () => process.getBuiltinModule('fs').writeFileSync(process.env.LOADED, " +
      "process.moduleLoadList.join('\\n')))",
  )
  for (const args of [
    ['config', 'list'],
    ['explain-panic', home.write('crash.log', crash)],
  ]) {
    // Output goes to files, since Node loads net for pipes.
    const script = `exec "$0" "$@" >output 2>errors`
    const { code } = await home.run('sh', ['-c', script, launcher, ...args], {
      env: { LOADED: list, NODE_OPTIONS: `--import=${hook}` },
    })
    assert.equal(code, 0, home.read('errors'))
    const names = new Set(home.read('loaded').split('\n'))
    assert.deepEqual(
      heavy.filter((name) => names.has(`NativeModule ${name}`)),
      [],
      args.join(' '),
    )
  }
})
