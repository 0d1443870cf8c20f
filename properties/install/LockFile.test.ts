import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { type LockedPackages, lockedPackage, missingPackages, platformOf } from "./LockFile.ts";

const read = (file: string): { readonly packages: LockedPackages } => JSON.parse(readFileSync(file, "utf8"));

describe("package-lock.json", () => {
  const { packages } = read("package-lock.json");

  it("has every platform's optional packages (else: npm run lock:complete)", () => {
    expect(missingPackages(packages)).toEqual([]);
  });

  it("installs what package.json asks for, in exactly these versions", () => {
    const asked = JSON.parse(readFileSync("package.json", "utf8"));
    for (const kind of ["dependencies", "devDependencies"]) {
      expect((packages[""] as Record<string, unknown>)[kind]).toEqual(asked[kind]);
      for (const [name, version] of Object.entries(asked[kind]))
        expect([name, packages[`node_modules/${name}`]?.version]).toEqual([name, version]);
    }
  });

  it("has what a Mac, an ARM server and Alpine need", () => {
    for (const name of ["@esbuild/darwin-arm64", "@esbuild/linux-arm64", "@rollup/rollup-linux-x64-musl"])
      expect(packages[`node_modules/${name}`]).toMatchObject({ optional: true });
  });
});

describe("a lock that npm has left incomplete", () => {
  const packages: LockedPackages = {
    "": { dependencies: { bundler: "1.0.0" } },
    "node_modules/bundler": {
      version: "1.0.0",
      dev: true,
      optionalDependencies: { "@bundler/linux-x64-musl": "1.0.0", "@bundler/win32-arm64": "1.0.0" },
    },
    "node_modules/@bundler/win32-arm64": { version: "1.0.0" },
    "node_modules/other/node_modules/bundler": {
      version: "0.9.0",
      optionalDependencies: { "@bundler/win32-arm64": "0.9.0", "@bundler/aix": "0.9.0" },
    },
  };

  it("tells what is missing, for whom", () => {
    expect(missingPackages(packages)).toEqual([
      { name: "@bundler/aix", version: "0.9.0", dependent: "node_modules/other/node_modules/bundler" },
      { name: "@bundler/linux-x64-musl", version: "1.0.0", dependent: "node_modules/bundler" },
    ]);
  });

  it("is completed with entries that npm passes over on other platforms", () => {
    const [, musl] = missingPackages(packages);
    expect(musl && lockedPackage(musl, packages)).toEqual({
      version: "1.0.0",
      os: ["linux"],
      cpu: ["x64"],
      libc: ["musl"],
      dev: true,
      optional: true,
    });
  });

  it("is not completed by a guess", () => {
    expect(() => platformOf("@bundler/aix")).toThrow("@bundler/aix");
    expect(platformOf("@oxc-parser/binding-android-arm-eabi")).toEqual({ os: ["android"], cpu: ["arm"] });
    expect(platformOf("@rollup/rollup-win32-x64-gnu")).toEqual({ os: ["win32"], cpu: ["x64"] });
  });
});
