import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readCrashes } from '../index.ts'
import { type CrashReport, reportsOf } from '../report.ts'

async function only(text: string): Promise<CrashReport> {
  const reports = reportsOf(await readCrashes([text]))
  assert.equal(reports.length, 1, JSON.stringify(reports))
  return reports[0]!
}

const phase = ({ phases }: CrashReport, name: string): string => phases.find((one) => one.name === name)?.text ?? ''

const nested = `panic: first [recovered]
	panic: second

goroutine 1 [running]:
main.f.func1()
	/src/main.go:6 +0x43
panic({0x45e0a0, 0x4b2f38})
	/usr/lib/go/src/runtime/panic.go:884 +0x212
main.f(...)
	/src/main.go:9
main.main()
	/src/main.go:13 +0x1c
exit status 2
`

test('the phases of a panic are listed in order', async () => {
  const crash = await only(nested)
  assert.deepEqual(
    crash.phases.map(({ name }) => name),
    ['panic', 'defers', 'recover', 'output', 'exit'],
  )
  assert.match(phase(crash, 'panic'), /^The program called panic, and goroutine 1 stopped .* It has 2\.$/)
  assert.match(phase(crash, 'defers'), /main\.f\.func1 panicked\.$/)
  assert.match(phase(crash, 'recover'), /one panic, marked \[recovered\]/)
  assert.match(
    phase(crash, 'output'),
    /the panics, oldest first, the stack of the goroutine, and no other goroutine, unless GOTRACEBACK=all/,
  )
  assert.match(phase(crash, 'exit'), /^The process ended with exit code 2\./)
})

test('a deferred function that panicked during another panic is named', async () => {
  const crash = await only(`panic: first
	panic: second

goroutine 1 [running]:
panic({0x45e0a0, 0x4b2f48})
	/usr/lib/go/src/runtime/panic.go:884 +0x212
main.f.func1()
	/src/main.go:6 +0x43
panic({0x45e0a0, 0x4b2f38})
	/usr/lib/go/src/runtime/panic.go:884 +0x212
main.f()
	/src/main.go:9 +0x31
`)
  assert.match(phase(crash, 'defers'), /main\.f\.func1 panicked\.$/)
  assert.match(phase(crash, 'recover'), /^None of them recovered: recover\(\) has an effect only if a deferred/)
})

test('a crash other than a panic has no phases', async () => {
  const crash = await only(
    'fatal error: all goroutines are asleep - deadlock!\n\ngoroutine 1 [chan ' +
      'receive]:\nmain.main()\n\t/src/main.go:5 +0x1\n',
  )
  assert.deepEqual(crash.phases, [])
})

test('offsets after line numbers and calls without words are explained', async () => {
  const inlined = await only(nested)
  assert.deepEqual([inlined.goroutine?.frames[inlined.ownFrame!]?.name, inlined.stackNotes.length], ['f', 2])
  assert.match(inlined.stackNotes[1]!, /^\(inlined\): .*\/\/go:noinline.*-gcflags="all=-N -l"/)
  const called = await only(nested.replace('main.f(...)\n\t/src/main.go:9', 'main.f(0x1)\n\t/src/main.go:9 +0x43'))
  assert.match(
    called.stackNotes[0]!,
    /^\+0x43 after line 9: the instruction is 67 bytes after the start of the function\..*objdump -s '\^main\\\.f\$'/,
  )
})
