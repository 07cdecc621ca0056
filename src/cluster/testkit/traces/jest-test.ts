/** The running test of Jest, which gives hooks no context. */
import { ExplainedError } from '../../../lib/explained-error.ts'
import type { TraceableTest } from './traceable-test.ts'

/** The state of jest-circus, which runs the tests of Jest; it is a global of the test file. */
interface CircusState {
  readonly currentlyRunningTest?: CircusTest | null
}

interface CircusTest {
  readonly name: string
  readonly errors: readonly unknown[]
  readonly parent?: { readonly name: string; readonly parent?: CircusTest['parent'] }
}

/**
 * Returns the running test of Jest, for `reset` and `trace`. Throws an ExplainedError outside of tests and hooks.
 * @example beforeEach(() => cluster.reset(jestTest()))
 */
export function jestTest(): TraceableTest {
  const test = circusState()?.currentlyRunningTest
  if (!test) throw new ExplainedError('jestTest() found no running test of Jest: call it in beforeEach or in a test.')
  return {
    name: test.name,
    fullName: [...suitesOf(test.parent), test.name].join(' > '),
    filePath: testPath(),
    get passed() {
      return test.errors.length === 0
    },
    get error() {
      const [first] = test.errors
      return Array.isArray(first) ? (first[0] ?? first[1]) : first
    },
  }
}

function circusState(): CircusState | undefined {
  const symbol = Object.getOwnPropertySymbols(globalThis).find(({ description }) => description === 'JEST_STATE_SYMBOL')
  return symbol && (Reflect.get(globalThis, symbol) as CircusState | undefined)
}

/** Without the outermost one, which is the file. */
const suitesOf = (suite: CircusTest['parent']): string[] =>
  suite?.parent ? [...suitesOf(suite.parent), suite.name] : []

function testPath(): string | undefined {
  const { expect } = globalThis as { readonly expect?: { getState?(): { readonly testPath?: string } } }
  return expect?.getState?.().testPath
}
