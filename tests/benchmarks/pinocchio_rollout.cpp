// Pinocchio's articulated-body algorithm and symplectic Euler in one loop over a tree of hinges, in C++.
#include <pinocchio/algorithm/aba.hpp>
#include <pinocchio/multibody.hpp>

namespace se3 = pinocchio;
using Eigen::Map;
using Eigen::Matrix3d;
using Eigen::Vector3d;
using Eigen::VectorXd;

struct Tree {
  se3::Model model;
  se3::Data data;
};

// parents: -1 or the index of an earlier body; axes, offsets, coms (n, 3); inertias (n, 3, 3) about the mass centre
extern "C" void *tree_new(int n, const int *parents, const double *axes, const double *offsets, const double *masses,
                          const double *coms, const double *inertias) {
  se3::Model model;
  model.gravity.linear() = Vector3d(0.0, 0.0, -9.81);
  for (int i = 0; i < n; ++i) {
    const se3::SE3 place(Matrix3d::Identity(), Map<const Vector3d>(offsets + 3 * i));
    const auto joint = model.addJoint(parents[i] + 1, se3::JointModelRevoluteUnaligned(Map<const Vector3d>(axes + 3 * i)),
                                      place, "joint " + std::to_string(i));
    const se3::Inertia inertia(masses[i], Map<const Vector3d>(coms + 3 * i), Map<const Matrix3d>(inertias + 9 * i));
    model.appendBodyToJoint(joint, inertia, se3::SE3::Identity());
  }
  return new Tree{model, se3::Data(model)};
}

extern "C" void tree_delete(void *tree) { delete static_cast<Tree *>(tree); }

extern "C" void tree_accelerations(void *pointer, const double *q, const double *v, double *a) {
  auto &tree = *static_cast<Tree *>(pointer);
  const int n = tree.model.nv;
  const VectorXd position = Map<const VectorXd>(q, n), velocity = Map<const VectorXd>(v, n), tau = VectorXd::Zero(n);
  Map<VectorXd>(a, n) = se3::aba(tree.model, tree.data, position, velocity, tau, se3::Convention::LOCAL);
}

extern "C" void tree_rollout(void *pointer, int steps, double dt, double *q, double *v) {
  auto &tree = *static_cast<Tree *>(pointer);
  const int n = tree.model.nv;
  VectorXd position = Map<VectorXd>(q, n), velocity = Map<VectorXd>(v, n), tau = VectorXd::Zero(n);
  for (int k = 0; k < steps; ++k) {
    se3::aba(tree.model, tree.data, position, velocity, tau, se3::Convention::WORLD);
    velocity += dt * tree.data.ddq;
    position += dt * velocity;  // as integrate does for hinges
  }
  Map<VectorXd>(q, n) = position;
  Map<VectorXd>(v, n) = velocity;
}
