/** Explains indexes and slice bounds that are out of range. */
import type { KnownMessage } from './reason.ts'

const kind = 'slice out of range'
const advice = 'Check the bounds before slicing: the line below has the expression.'
const signed = (number: string): boolean => number.startsWith('-')

export const boundsMessages: readonly KnownMessage[] = [
  {
    pattern: /index out of range \[(-?\d+)\](?: with length (\d+))?/,
    kind: 'index out of range',
    explain: (index = '', length = '') => {
      if (signed(index)) return `The index is ${index}: an index must not be negative.`
      if (length === '') return `The index ${index} does not exist.`
      if (length === '0') return `The index is ${index}, but the length is 0.`
      const past = Number(index) - Number(length)
      const last = `the last index is ${Number(length) - 1}`
      return (
        `The index is ${index} and the length ${length}: ` +
        `${last}${past === 0 ? ', so it is one too far (perhaps `<=` instead of `<`)' : ''}.`
      )
    },
    advice: 'Check the length before indexing: the line below has the expression.',
  },
  {
    pattern: /index out of range/,
    kind: 'index out of range',
    explain: () => 'An index is out of range.',
    advice: 'Check the length before indexing.',
  },
  {
    pattern: /slice bounds out of range \[:(-?\d+)\] with (length|capacity) (\d+)/,
    kind,
    explain: (high = '', what = '', size = '') =>
      `In s[:high], high is ${high} and the ${what} ${size}: ` +
      (what === 'length' ? 'strings and arrays end at their length.' : 'a slice can be extended to its capacity only.'),
    advice,
  },
  {
    pattern: /slice bounds out of range \[::(-?\d+)\] with (length|capacity) (\d+)/,
    kind,
    explain: (max = '', what = '', size = '') => `In s[low:high:max], max is ${max} and the ${what} ${size}.`,
    advice,
  },
  {
    pattern: /slice bounds out of range \[:(-?\d+):(\d+)?\]/,
    kind,
    explain: (high = '', max = '') =>
      'In s[low:high:max], high is ' +
      `${high}${signed(high) ? ', which is negative' : ` and max only ${max}: high must not exceed max`}.`,
    advice,
  },
  {
    pattern: /slice bounds out of range \[(-?\d+):(\d+)?:\]/,
    kind,
    explain: (low = '', high = '') =>
      'In s[low:high:max], low is ' +
      `${low}${signed(low) ? ', which is negative' : ` and high only ${high}: low must not exceed high`}.`,
    advice,
  },
  {
    pattern: /slice bounds out of range \[(-?\d+)::\]/,
    kind,
    explain: (low = '') => `In s[low:high:max], low is ${low}${signed(low) ? ', which is negative' : ''}.`,
    advice,
  },
  {
    pattern: /slice bounds out of range \[(-?\d+):(\d+)?\]/,
    kind,
    explain: (low = '', high = '') => {
      if (signed(low)) return `In s[low:high], low is ${low}: a bound must not be negative.`
      return high === ''
        ? `In s[low:], low is ${low}, which is beyond the end.`
        : `In s[low:high], low is ${low} and high ${high}: low exceeds high.`
    },
    advice: `${advice} Without high, the length is used: then low is beyond the end.`,
  },
  {
    pattern: /slice bounds out of range/,
    kind,
    explain: () => 'A slice begins or ends out of range.',
    advice,
  },
  {
    pattern: /cannot convert slice with length (\d+) to (?:array or )?pointer to array with length (\d+)/,
    kind: 'slice too short',
    explain: (length = '', wanted = '') =>
      `A slice of ${length} elements was converted to an array of ${wanted}: it needs at least as many.`,
    advice: 'Check the length before the conversion.',
  },
]
