/** Tests of crashes in logs: the formats of several versions of Go, with the prefixes of log tools. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Crash } from './dump/crash.ts'
import { readCrashes } from './index.ts'
import { type CrashReport, reportsOf } from './report.ts'

const crash = `panic: runtime error: index out of range [5] with length 3 [recovered]
	panic: runtime error: index out of range [5] with length 3

goroutine 7 [running]:
example.com/shop/cart.(*Cart).Add.func1()
	/src/cart/cart.go:20 +0x74
panic({0x48c380, 0xc0000140a8?})
	/usr/local/go/src/runtime/panic.go:884 +0x212
example.com/shop/cart.(*Cart).Add(0xc000010000, {0x4b1c1e, 0x5})
	/src/cart/cart.go:31 +0x1d
net/http.HandlerFunc.ServeHTTP(...)
	/usr/local/go/src/net/http/server.go:2122
github.com/gorilla/mux.(*Router).ServeHTTP(0xc0000c2000, {0x6f2a80, 0xc0000f0000}, 0xc000100000)
	/root/go/pkg/mod/github.com/gorilla/mux@v1.8.0/mux.go:210 +0x1cf
created by main.main in goroutine 1
	/src/main.go:12 +0x2b

goroutine 1 [select, 5 minutes, locked to thread]:
main.main()
	/src/main.go:14 +0x8f
exit status 2
`

const lines = crash.trimEnd().split('\n')
const stamp = '2026-11-22T02:26:00.123456789Z'

/** Asserts that the crash above is found, however it is wrapped. */
async function isThatCrash(text: string | readonly string[]): Promise<void> {
  const found = await readCrashes(typeof text === 'string' ? [text] : text)
  assert.equal(found.length, 1, JSON.stringify(found))
  const [{ kind, panics, goroutines }] = found as [Crash]
  assert.equal(kind, 'panic')
  assert.deepEqual(
    panics.map(({ recovered }) => recovered),
    [true, false],
  )
  assert.deepEqual(
    goroutines.map(({ id, state, minutes, frames }) => [id, state, minutes, frames.length]),
    [
      [7, 'running', 0, 5],
      [1, 'select', 5, 1],
    ],
  )
  const [report] = reportsOf(found) as [CrashReport]
  assert.equal(report.kind, 'index out of range')
  assert.equal(report.goroutine?.frames[report.ownFrame ?? -1]?.line, 31)
  assert.deepEqual(report.goroutine?.createdBy, { function: 'main.main', file: '/src/main.go', line: 12, goroutine: 1 })
}

describe('a crash is found', () => {
  const before = 'starting\n2026/11/22 02:26:01 listening\n'
  const wrapped: Readonly<Record<string, string | readonly string[]>> = {
    alone: crash,
    'between other lines': `${before}${crash}restarting\n`,
    'in pieces that break anywhere': crash.match(/[\s\S]{1,7}/g) ?? [],
    'with the ends of lines of Windows': crash.replaceAll('\n', '\r\n'),
    'in colours': lines.map((line) => `\x1b[31m${line}\x1b[0m`).join('\n'),
    'in the format of CRI': lines.map((line) => `${stamp} stderr F ${line}`).join('\n'),
    'with time stamps of kubectl': lines.map((line) => `${stamp} ${line}`).join('\n'),
    'with prefixes of kubectl': lines.map((line) => `[pod/web-7f9/app] ${line}`).join('\n'),
    'with prefixes and time stamps': lines.map((line) => `[pod/web-7f9/app] ${stamp} ${line}`).join('\n'),
    'in docker compose': lines.map((line) => `web-1  | ${line}`).join('\n'),
    'in syslog': lines.map((line) => `Nov 22 02:26:00 node1 web[123]: ${line}`).join('\n'),
    'with the names of pods': lines.map((line) => `web-7f9 app ${line}`).join('\n'),
    indented: lines.map((line) => `    ${line}`.trimEnd()).join('\n'),
    "in Docker's JSON": lines
      .map((line) => JSON.stringify({ log: `${line}\n`, stream: 'stderr', time: stamp }))
      .join('\n'),
    "in Docker's JSON, cut": lines
      .flatMap((line) =>
        [line.slice(0, 9), `${line.slice(9)}\n`].map((log) => JSON.stringify({ log, stream: 'stderr' })),
      )
      .join('\n'),
    'a line an entry': lines.map((line) => JSON.stringify({ severity: 'ERROR', textPayload: line })).join('\n'),
    'whole in one entry': `${before}${JSON.stringify({ level: 'error', msg: crash })}\n`,
    'whole in a field': JSON.stringify({ level: 'error', msg: 'it ended', output: crash }),
  }
  for (const [how, text] of Object.entries(wrapped)) test(how, () => isThatCrash(text))
})

async function only(text: string): Promise<CrashReport> {
  const reports = reportsOf(await readCrashes([text]))
  assert.equal(reports.length, 1, JSON.stringify(reports))
  return reports[0]!
}

test('frames have their origin, and those of modules a version', async () => {
  const { goroutine } = await only(crash)
  assert.deepEqual(
    goroutine?.frames.map(({ origin }) => origin),
    ['own', 'runtime', 'own', 'standard library', 'module'],
  )
  assert.deepEqual([goroutine?.frames[4]?.module, goroutine?.frames[4]?.version], ['github.com/gorilla/mux', 'v1.8.0'])
  assert.equal(goroutine?.frames[3]?.inlined, true)
})

test('stacks in fields of log entries are read', async () => {
  const stack =
    'main.load\n\t/src/main.go:12\nmain.main\n\t/src/main.go:5\nruntime.main\n\t/usr/local/go/src/runtime/proc.go:250'
  const logged = await only(
    JSON.stringify({ level: 'error', msg: 'cannot load', error: 'no such file', stacktrace: stack }),
  )
  assert.deepEqual(
    [logged.kind, logged.message, logged.goroutine?.frames[0]?.name, logged.goroutine?.frames[0]?.line],
    ['logged error', 'cannot load: no such file', 'load', 12],
  )
  const recovered = await only(
    JSON.stringify({
      level: 'panic',
      msg: 'recovered',
      panic: 'assignment to entry in nil map',
      stacktrace: `goroutine 9 [running]:\nmain.set(0x1)\n\t/src/main.go:3 +0x1\n`,
    }),
  )
  assert.deepEqual([recovered.kind, recovered.source, recovered.goroutine?.id], ['nil map write', 'logged panic', 9])
  const escapedStack = String.raw`goroutine 12 [running]:\nmain.f(0x1)\n\t/src/main.go:7 +0x1\n`
  const quoted = await only(`level=error msg="Observed a panic" panic="boom" stacktrace="${escapedStack}"`)
  assert.deepEqual([quoted.source, quoted.goroutine?.id, quoted.goroutine?.frames[0]?.line], ['logged panic', 12, 7])
  const console = await only(
    `2026-11-22T02:26:00Z	ERROR	Observed a panic	{"panic": "boom", "stacktrace": "${escapedStack}"}`,
  )
  assert.deepEqual([console.source, console.goroutine?.id], ['logged panic', 12])
})

test('panics that were recovered and logged are read', async () => {
  const stack =
    'goroutine 18 [running]:\nmain.handle(0x1?)\n\t/src/main.go:9 +0x1\ncreated by ' +
    'net/http.(*Server).Serve\n\t/usr/local/go/src/net/http/server.go:3089 +0x5ed\n'
  const http = await only(
    '2026/11/22 02:26:01 http: panic serving 127.0.0.1:4711: runtime error: integer divide by ' +
      `zero\n${stack}2026/11/22 02:26:02 next\n`,
  )
  assert.deepEqual([http.kind, http.source, http.times], ['division by zero', 'logged panic', 1])
  assert.match(http.explanation, /was recovered, and the program continued/)
  const klog = await only(
    'E1122 02:26:01.123456       1 runtime.go:79] Observed a panic: runtime.boundsError{} (runtime error: index ' +
      `out of range [3] with length 1)\n${stack}I1122 02:26:02.000000       1 main.go:1] next\n`,
  )
  assert.deepEqual([klog.kind, klog.goroutine?.frames[0]?.line], ['index out of range', 9])
  const structured = await only(
    'E1122 02:26:01.123456       1 panic.go:115] "Observed a panic" panic="boom" ' +
      `stacktrace=<\n${stack.replace(/^/gm, '\t')} >\n`,
  )
  assert.deepEqual([structured.source, structured.goroutine?.frames.length], ['logged panic', 1])
  const [again] = reportsOf(
    await readCrashes([`http: panic serving 1.2.3.4:1: boom\n${stack}http: panic serving 1.2.3.4:2: boom\n${stack}`]),
  )
  assert.equal(again?.times, 2)
})

test('the formats of newer Go are read: headings, go wrappers, elided frames, ancestors', async () => {
  const { goroutine, panics, chain } = await only(`panic: boom [recovered, repanicked]

goroutine 34 gp=0xc000104540 m=3 mp=0xc000080008 [running, locked to thread]:
panic({0x48c380?, 0x4bc130?})
	/usr/local/go/src/runtime/panic.go:802 +0x168 fp=0xc00003dfe0 sp=0xc00003df70 pc=0x4774bb
example.com/shop.Each[...](0x1, ...)
	/src/each.go:4 +0x12
...23 frames elided...
example.com/shop.start.gowrap1()
	/src/each.go:9 +0x25
created by example.com/shop.start in goroutine 1
	/src/each.go:9 +0x5a
[originating from goroutine 1]:
main.main(...)
	/src/main.go:3 +0x11
`)
  assert.deepEqual(
    [goroutine?.id, goroutine?.lockedToThread, goroutine?.elided, goroutine?.createdBy?.goroutine],
    [34, true, 23, 1],
  )
  assert.deepEqual(
    goroutine?.ancestors?.map((one) => [one.goroutine, one.frames[0]?.name]),
    [[1, 'main']],
  )
  assert.equal(goroutine?.frames[2]?.wrapper, 'wrapper of a go statement')
  assert.equal(panics[0]?.repanicked, true)
  assert.match(chain ?? '', /same value/)
  const bubble = await only(
    'goroutine 22 [chan receive (durable), synctest bubble 21]:\nmain.f()\n\t/src/main.go:3 +0x11\n',
  )
  assert.deepEqual(
    [bubble.groups[0]?.state, bubble.groups[0]?.notes],
    ['chan receive', ['synctest bubble 21', 'durable']],
  )
})

test('the format of Go 1.16 and older is read', async () => {
  const { panics, signal, goroutine, explanation } = await only(`panic: (main.T) (0x45e0a0,0xc42000e1e0) [recovered]
	panic: runtime error: invalid memory address or nil pointer dereference
[signal SIGSEGV: segmentation violation code=0xffffffff addr=0x18 pc=0x44f3b2]

goroutine 1 [running]:
panic(0x45e0a0, 0xc42000e1e0)
	/usr/local/go/src/runtime/panic.go:551 +0x3c1
main.(*T).load(0x0, 0x5, 0x0, 0x0)
	/go/src/example.com/x/main.go:9 +0x22 fp=0xc42004bf48 sp=0xc42004bf40
`)
  assert.deepEqual([panics.length, signal?.code, signal?.nilOffset, goroutine?.frames[1]?.receiver], [2, -1, 24, '*T'])
  assert.match(explanation, /type main\.T, which is neither an error/)
})

test('a crash in C code has registers, the calling Go frame and frames without lines', async () => {
  const report = await only(`SIGSEGV: segmentation violation
PC=0x483a40 m=0 sigcode=1 addr=0x8
signal arrived during cgo execution

goroutine 1 gp=0xc0000061c0 m=0 mp=0x55e1c0 [syscall]:
runtime.cgocall(0x483a30, 0xc00006ef38)
	/usr/local/go/src/runtime/cgocall.go:157 +0x4b
main._Cfunc_crash()
	_cgo_gotypes.go:45 +0x3f
main.main()
	/src/main.go:20 +0x65
non-Go function
	pc=0x7f1234

rax    0x8
rip    0x483a40
`)
  assert.deepEqual(
    [report.kind, report.signal?.duringCgo, report.signal?.address, report.signal?.code],
    ['crash in C code', true, '0x8', 1],
  )
  assert.deepEqual(report.registers, { rax: '0x8', rip: '0x483a40' })
  assert.equal(report.goroutine?.frames[report.ownFrame ?? -1]?.line, 20)
  assert.equal(report.goroutine?.frames.at(-1)?.origin, 'C')
  const abort = await only(
    'SIGABRT: abort\nPC=0x1 m=0 sigcode=18446744073709551610\n\ngoroutine 0 [idle]:\n\ngoroutine 1 ' +
      '[syscall]:\nmain.main()\n\t/src/main.go:20 +0x65\n',
  )
  assert.deepEqual([abort.kind, abort.signal?.code], ['abort', -6])
})

test('a fault at an unmapped address is a bad address', async () => {
  const report = await only(
    'unexpected fault address 0x7f0000001000\nfatal error: fault\n[signal SIGBUS: bus error code=0x2 ' +
      'addr=0x7f0000001000 pc=0x44f3b2]\n\ngoroutine 1 [running]:\nmain.main()\n\t/src/main.go:20 +0x65\n',
  )
  assert.equal(report.kind, 'bad address')
  assert.match(report.explanation, /0x7f0000001000/)
  assert.match(report.signal?.codeMeaning ?? '', /no memory at the address/)
})

test('a data race has the stacks of both goroutines', async () => {
  const report = await only(`==================
WARNING: DATA RACE
Write at 0x00c0000b4010 by goroutine 7:
  main.main.func1()
      /src/main.go:12 +0x3c

Previous read at 0x00c0000b4010 by main goroutine:
  main.main()
      /src/main.go:15 +0x8f

Goroutine 7 (running) created at:
  main.main()
      /src/main.go:11 +0x7a
==================
Found 1 data race(s)
exit status 66
`)
  assert.equal(report.kind, 'data race')
  assert.deepEqual(
    report.race.map(({ title, frames }) => [title, frames[0]?.line]),
    [
      ['Write at 0x00c0000b4010 by goroutine 7', 12],
      ['Previous read at 0x00c0000b4010 by main goroutine', 15],
      ['Goroutine 7 (running) created at', 11],
    ],
  )
})

test('out of memory reports the requested bytes', async () => {
  const report = await only(
    'runtime: out of memory: cannot allocate 4194304-byte block (66682880 in use)\nfatal error: out of ' +
      'memory\n\ngoroutine 1 [running]:\nmain.main()\n\t/src/main.go:20 +0x65\n',
  )
  assert.match(report.explanation, /4194304 more bytes, with 66682880/)
})

test('repeated cycles of calls are folded', async () => {
  const { foldCycles: folded } = await import('./goroutines/folded-cycles.ts')
  assert.deepEqual(
    folded([...'xababababy'], (one) => one),
    [
      { from: 0, length: 1, times: 1 },
      { from: 1, length: 2, times: 4 },
      { from: 9, length: 1, times: 1 },
    ],
  )
})

test('logs that only mention panics have no crash', async () => {
  for (const text of [
    '',
    'no panic here\n',
    "don't panic: it works\n",
    '{"msg":"goroutine leak?"}\n',
    '{"log": 5}\n{',
    'a panic: b (c)\n\t/x:1\n',
  ])
    assert.deepEqual(await readCrashes([text]), [], text)
})

test('a truncated crash is reported as far as it goes', async () => {
  for (let end = 8; end < crash.length; end += 13) assert.equal((await readCrashes([crash.slice(0, end)])).length, 1)
  assert.equal((await only('panic: boom\nand then\nthe log goes on\n')).message, 'panic: boom')
})

test('very long or deeply nested lines are handled', async () => {
  const long =
    'goroutine 1 ' +
    `[running]:\n${'x'.repeat(200_000)}(${'{'.repeat(100_000)}\n\t${'/a'.repeat(50_000)}\n` +
    `${' '.repeat(200_000)}panic: x\n{"a":${'['.repeat(100_000)}\n"${'\\'.repeat(100_000)}goroutine 1 [running]:\\n\n`
  await readCrashes([long.repeat(3)])
})
