/** Medians and ratios: figures that hold even on a noisy machine. */

/** The value below which `share` (0 to 1) of the samples lie; NaN for none. */
export const quantile = (samples: ReadonlyArray<number>, share: number): number => {
  const sorted = samples.toSorted((left, right) => left - right);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
};

export const median = (samples: ReadonlyArray<number>): number => quantile(samples, 0.5);

export const rounded = (value: number, digits = 2): number => Number(value.toFixed(digits));
