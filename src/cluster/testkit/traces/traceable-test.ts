/** The tests of frameworks, as far as traces need them. */
import { inspect, stripVTControlCharacters } from 'node:util'
import type { TracedTest } from '../../../apiserver/test-control/index.ts'

/** The context of a test of node:test, a test of `jestTest()`, or one of your own. */
export interface TraceableTest {
  readonly name: string
  /** With the names of the suites. */
  readonly fullName?: string
  readonly filePath?: string
  /** Read after the test. */
  readonly passed?: boolean
  /** Read after the test. */
  readonly error?: unknown
  /** Calls back after the test. Without it, a trace ends when the next one begins, and with the cluster. */
  after?(done: () => Promise<void>): unknown
}

/** The context of a test of Vitest. */
export interface VitestContext {
  readonly task: {
    readonly name: string
    readonly suite?: VitestSuite
    readonly file?: { readonly filepath?: string }
    readonly result?: {
      readonly state?: string
      readonly errors?: readonly { readonly message?: string; readonly stack?: string }[]
    }
  }
  onTestFinished(done: () => Promise<void>): unknown
}

interface VitestSuite {
  readonly name: string
  readonly suite?: VitestSuite
}

/** The same for each framework. */
export function traceableTest(context: TraceableTest | VitestContext): TraceableTest {
  if (!('task' in context)) return context
  const { task } = context
  return {
    name: task.name,
    fullName: [...suitesOf(task.suite), task.name].join(' > '),
    filePath: task.file?.filepath,
    get passed() {
      return task.result?.state !== 'fail'
    },
    get error() {
      return task.result?.errors?.[0]
    },
    after: (done) => context.onTestFinished(done),
  }
}

const suitesOf = (suite: VitestSuite | undefined): string[] => (suite ? [...suitesOf(suite.suite), suite.name] : [])

const maxTextLength = 256 * 1024

/** Describes a test that has ended. A test that has no result is one that failed. */
export function describeTest(test: TraceableTest, output: string): TracedTest {
  const { name, fullName = name, filePath, passed, error } = test
  return {
    name: fullName,
    ...(filePath !== undefined && { file: filePath }),
    outcome: passed === true ? 'passed' : 'failed',
    ...(passed !== true && errorTexts(error)),
    ...(output !== '' && { output }),
  }
}

/** node:test wraps errors: the cause is that of the test. */
function errorTexts(error: unknown): { readonly error?: string; readonly stack?: string } {
  if (error === undefined || error === null) return {}
  const { code, cause } = error as { readonly code?: unknown; readonly cause?: unknown }
  const own = code === 'ERR_TEST_FAILURE' && cause ? cause : error
  const { message, stack } = own as { readonly message?: unknown; readonly stack?: unknown }
  const text = typeof message === 'string' ? message : inspect(own)
  return {
    error: plain(text),
    ...(typeof stack === 'string' && { stack: plain(stack) }),
  }
}

/** Without the colours of terminals. */
const plain = (text: string): string => stripVTControlCharacters(text).slice(0, maxTextLength)
