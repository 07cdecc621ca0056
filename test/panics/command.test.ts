/** Tests of the command `t8s explain-panic`: files, standard input, pod logs, and errors. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import { createSecureServer } from 'node:http2'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { issueCertificate, makeAuthority } from '../../src/lib/x509/certificates.ts'
import { readCrashes } from '../../src/tools/panics/index.ts'
import { reportsOf } from '../../src/tools/panics/report.ts'
import { testCluster } from '../support/test-cluster.ts'
import { repository, temporaryFolder } from '../up/t8s-process.ts'

const crash = `panic: runtime error: invalid memory address or nil pointer dereference
[signal SIGSEGV: segmentation violation code=0x1 addr=0x28 pc=0x483a40]

goroutine 7 [running]:
example.com/shop/cart.(*Cart).Add(0x0, {0x4b1c1e, 0x5}, 0x2)
	/build/cart/cart.go:5 +0x1d
main.main.func1()
	/build/main.go:9 +0x2b
created by main.main in goroutine 1
	/build/main.go:8 +0x2b

goroutine 1 [chan receive]:
main.main()
	/build/main.go:11 +0x8f
`

const source = `package cart

// Add puts items into the cart.
func (c *Cart) Add(id string, count int) error {
	c.total += count
	return nil
}
`

interface Ended {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

/** Runs the command to its end without blocking, since a server of the test may have to respond. */
async function explain(
  t: TestContext,
  args: readonly string[],
  { input = '', env = {} }: { readonly input?: string; readonly env?: NodeJS.ProcessEnv } = {},
): Promise<Ended> {
  const child = spawn(join(repository, 't8s'), ['explain-panic', ...args], {
    env: { ...process.env, ...env },
    timeout: 120_000,
    killSignal: 'SIGKILL',
  })
  t.after(() => child.kill('SIGKILL'))
  const output = { stdout: '', stderr: '' }
  child.stdout.setEncoding('utf8').on('data', (text: string) => (output.stdout += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => (output.stderr += text))
  // The command may end before it has read all input.
  child.stdin.on('error', () => {})
  child.stdin.end(input)
  const [code] = (await once(child, 'close')) as [number | null]
  return { code, ...output }
}

test('a file is explained with source lines and arguments', async (t) => {
  const folder = temporaryFolder(t)
  const file = join(folder, 'crash.log')
  writeFileSync(file, crash)
  mkdirSync(join(folder, 'shop/cart'), { recursive: true })
  writeFileSync(join(folder, 'shop/cart/cart.go'), source)
  const { code, stdout, stderr } = await explain(t, [file, '--src', join(folder, 'shop')])
  assert.equal(code, 0, stderr)
  assert.equal(
    stdout,
    `panic: runtime error: invalid memory address or nil pointer dereference

  A field of a nil pointer was accessed, at offset 40 (0x28) of its struct; or an element of a nil slice or array \
pointer, 40 bytes from its start.
  Next: Find out on the line below which pointer may be nil and why it was not set: often an error that was not checked.

  signal       SIGSEGV (segmentation violation), code 1 (SEGV_MAPERR): nothing is mapped at the address, address 0x28, \
at instruction 0x483a40
  goroutine    7 [running]
  created by   main.main in goroutine 1
               /build/main.go:8
  failed in    example.com/shop/cart: (*Cart).Add
               /build/cart/cart.go:5

        3 │ // Add puts items into the cart.
        4 │ func (c *Cart) Add(id string, count int) error {
  →     5 │     c.total += count
        6 │     return nil
        7 │ }

  Arguments of example.com/shop/cart.(*Cart).Add, as Go 1.17 and newer print them
    c (receiver)  *Cart            0x0       nil
    id            string  pointer  0x4b1c1e
                          length   0x5       5
    count         int              0x2       2
    (result)      error            ?
    No word is marked as stale, but Go 1.17 does not mark stale words. A build without optimisation and inlining \
(-gcflags="all=-N -l") has reliable words.
    Results are not printed since Go 1.17.

  Stack
  → example.com/shop/cart: (*Cart).Add
        /build/cart/cart.go:5 +0x1d  (0x0, {0x4b1c1e, 0x5}, 0x2)
    main: main, closure func1
        /build/main.go:9 +0x2b
    +0x1d after line 5: the instruction is 29 bytes after the start of the function. In a caller it is the return \
address of the call. \`go tool objdump -s '^example\\.com/shop/cart\\.\\(\\*Cart\\)\\.Add$' PROGRAM\` lists the \
instructions.

  Phases of the panic
    panic    The runtime called panic, as it does for every runtime error, and goroutine 7 stopped there. Each \
goroutine has a list of its panics. It has this one.
    defers   Its deferred functions ran, newest first, on top of the stack of the panic.
    recover  None of them recovered: recover() has an effect only if a deferred function of this goroutine calls it \
directly, during the panic; in a nested function, or in another goroutine, it returns nil.
    output   The runtime printed to stderr: the panic, the signal, the stack of the goroutine, then the other \
goroutines.
    exit     The process ended with exit code 2. No other goroutine was notified, and none of their deferred functions \
ran.

  All 2 goroutines, 2 different stacks

      1 × [chan receive]
          goroutine 1
          main: main  /build/main.go:11
`,
  )
})

test('sources of another version or of another program are reported', async (t) => {
  const folder = temporaryFolder(t)
  const none = await explain(t, ['--src', folder], { input: crash })
  assert.match(
    none.stdout,
    /sources +.* does not contain \/build\/cart\/cart\.go: give the folder with the program's go\.mod/,
  )
  writeFileSync(join(folder, 'cart.go'), 'package cart\n')
  const old = await explain(t, ['--src', folder], { input: crash })
  assert.match(old.stdout, /cart\.go has no Add at line 5: it is another version/)
})

test('standard input is explained as JSON, with a signature from the command line', async (t) => {
  const { code, stdout, stderr } = await explain(
    t,
    ['-o', 'json', '--func', 'func (c *Cart) Add(id string, count int) error'],
    { input: crash },
  )
  assert.equal(code, 0, stderr)
  const [report] = JSON.parse(stdout).crashes
  assert.equal(report.kind, 'nil dereference')
  assert.deepEqual(report.goroutine.frames[0], {
    function: 'example.com/shop/cart.(*Cart).Add',
    package: 'example.com/shop/cart',
    receiver: '*Cart',
    name: 'Add',
    file: '/build/cart/cart.go',
    line: 5,
    offset: 29,
    origin: 'own',
    words: '0x0, {0x4b1c1e, 0x5}, 0x2',
  })
  assert.deepEqual(report.arguments[0].values[0], {
    role: 'receiver',
    name: 'c',
    type: '*Cart',
    parts: [{ label: '', word: '0x0', meaning: 'nil' }],
  })
})

test('an invalid invocation is an error of one sentence with the remedy', async (t) => {
  const folder = temporaryFolder(t)
  writeFileSync(join(folder, 'calm.log'), 'all is well\n')
  const cases: readonly (readonly [readonly string[], RegExp])[] = [
    [[join(folder, 'none.log')], /cannot read .*none\.log: no such file or directory; name a file/],
    [[folder], /is a folder: name a file/],
    [[join(folder, 'calm.log')], /there is no crash of a Go program in .*calm\.log: pass the whole output/],
    [['--src', join(folder, 'none')], /--src .*none is not a folder/],
    [['--func', 'func f('], /is not a Go signature \(at its end\): write it as/],
    [
      ['--func', 'func other(a int)'],
      /there is no call of other in the standard input: it has calls of Add, main; check the name/,
    ],
    [['--previous'], /-c and --previous need a pod: add --pod NAME/],
    [['crash.log', '--pod', 'web'], /both the file crash\.log and the pod web are given: omit one/],
    [
      ['--pod', 'web', '--kubeconfig', join(folder, 'none')],
      /there is no kubeconfig at .*none: use --kubeconfig or KUBECONFIG/,
    ],
    [['--abi', 'none'], /--abi.*Allowed choices are stack, register/],
  ]
  for (const [args, message] of cases) {
    const { code, stdout, stderr } = await explain(t, args, { input: crash })
    assert.deepEqual([code, stdout], [1, ''], `${args}\n${stderr}`)
    assert.match(stderr, message)
    assert.ok(stderr.trimEnd().split('\n').length <= 2, stderr)
  }
})

/** Returns a kubeconfig for a server that responds with `answer`. */
async function apiServer(
  t: TestContext,
  answer: (path: string) => readonly [status: number, body: string],
): Promise<string> {
  const authority = await makeAuthority('test', new Date())
  const { cert, key } = await issueCertificate(
    authority,
    { commonName: 'server', usage: 'server', hosts: ['127.0.0.1'] },
    new Date(),
  )
  const server = createSecureServer({ cert, key })
  const sessions = new Set<{ destroy(): void }>()
  server.on('session', (session) => sessions.add(session))
  server.on('request', (request, response) => {
    const [status, body] =
      request.headers.authorization === 'Bearer secret' ? answer(request.url) : ([401, 'unauthorized'] as const)
    response.writeHead(status, { 'content-type': status === 200 ? 'text/plain' : 'application/json' })
    response.end(body)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    for (const session of sessions) session.destroy()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  const ca = Buffer.from(authority.cert).toString('base64')
  const file = join(temporaryFolder(t), 'kubeconfig')
  writeFileSync(
    file,
    JSON.stringify({
      apiVersion: 'v1',
      kind: 'Config',
      'current-context': 'test',
      contexts: [
        { name: 'test', context: { cluster: 'test', user: 'test', namespace: 'shop' } },
        { name: 'stranger', context: { cluster: 'test', user: 'stranger' } },
      ],
      clusters: [{ name: 'test', cluster: { server: `https://127.0.0.1:${port}`, 'certificate-authority-data': ca } }],
      users: [
        { name: 'test', user: { token: 'secret' } },
        { name: 'stranger', user: { token: 'wrong' } },
      ],
    }),
  )
  return file
}

test('the log of a pod is read through the API', async (t) => {
  const asked: string[] = []
  const kubeconfig = await apiServer(t, (path) => {
    asked.push(path)
    return path.includes('previous') ? [200, `starting\n${crash}`] : [200, 'all is well\n']
  })
  const { code, stdout, stderr } = await explain(t, [
    '--pod',
    'web',
    '-c',
    'app',
    '--previous',
    '--kubeconfig',
    kubeconfig,
  ])
  assert.equal(code, 0, stderr)
  assert.match(stdout, /offset 40/)
  const calm = await explain(t, ['--pod', 'web', '-n', 'other'], { env: { KUBECONFIG: kubeconfig } })
  assert.equal(calm.code, 1)
  assert.match(
    calm.stderr,
    /no crash of a Go program in the log of pod web: if the container was restarted since, use --previous/,
  )
  assert.deepEqual(asked, [
    '/api/v1/namespaces/shop/pods/web/log?container=app&previous=true',
    '/api/v1/namespaces/other/pods/web/log',
  ])
  const stranger = await explain(t, ['--pod', 'web', '--kubeconfig', kubeconfig, '--context', 'stranger'])
  assert.match(
    stranger.stderr,
    /cannot read the log of pod web in the namespace default: .*use a kubeconfig with permission to get pods\/log/,
  )
})

test('errors of the cluster are printed with the remedy', async (t) => {
  const { kubeconfigFile, call, stop } = await testCluster(t)
  const containers = ['a', 'b'].map((name) => ({ name, image: 'i' }))
  await call('POST', '/api/v1/namespaces/default/pods', {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'two' },
    spec: { containers },
  })
  const assertError = async (args: readonly string[], expected: RegExp): Promise<void> => {
    const { code, stderr } = await explain(t, ['--kubeconfig', kubeconfigFile, '--pod', ...args])
    assert.equal(code, 1)
    assert.match(stderr, expected)
    assert.equal(stderr.trimEnd().split('\n').length, 1)
  }
  await assertError(['none'], /pods "none" not found; check the namespace \(-n\)/)
  await assertError(
    ['two'],
    /container name must be specified for pod two, choose one of: \[a b\]; choose one with -c NAME/,
  )
  await assertError(['two', '-c', 'a'], /there is no crash of a Go program in the log of pod two/)
  await stop({ graceMs: 0 })
  await assertError(['two'], /cannot read the log of pod two: https:.* is unreachable: .*; is the cluster running\?/)
})

test('20,000 goroutines in more than 10 MB are grouped within seconds', async (t) => {
  const dump: string[] = ['SIGQUIT: quit', 'PC=0x46d4c1 m=0 sigcode=0', '']
  for (let id = 1; id <= 20_000; id++) {
    const kind = id % 37
    dump.push(`goroutine ${id} [chan receive, ${kind} minutes]:`)
    for (let depth = 0; depth < 4; depth++) {
      dump.push(
        `example.com/shop/internal/worker${kind}.(*Pool[...]).step${depth}.func1(0xc${(id * 7919).toString(16)}, ` +
          `{0xc000123456, 0x${depth}})`,
      )
      dump.push(`\t/workspace/src/shop/internal/worker${kind}/pool.go:${100 + depth} +0x11`)
    }
    dump.push(
      `created by example.com/shop/internal/worker${kind}.New in goroutine 1`,
      `\t/workspace/src/shop/internal/worker${kind}/pool.go:50 +0x1b`,
      '',
    )
  }
  const text = dump.join('\n')
  assert.ok(text.length > 10 * 1024 * 1024)
  const started = process.cpuUsage()
  const [report] = reportsOf(await readCrashes([text]))
  const { user, system } = process.cpuUsage(started)
  assert.deepEqual([report?.goroutineCount, report?.groups.length], [20_000, 37])
  t.diagnostic(`${Math.round((user + system) / 1000)} ms of CPU`)
  // About 300 ms usually; machines may be slow and busy.
  assert.ok(user + system < 3_000_000, `${user + system} µs`)
})
